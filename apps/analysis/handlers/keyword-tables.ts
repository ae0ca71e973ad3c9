import type { JsMsg } from '@nats-io/jetstream';
import type { EventStore } from '#event-store';
import { done, retry, type Outcome } from '#messaging';
import type { Database } from '#postgres';
import { KEYWORDS_PROJECTION, positionsOf } from '#projections';

const RETRY_MS = 200;

/** Returns the messages whose decisions about keywords the tables do not contain yet. */
export async function earlyOf(database: Database, messages: readonly JsMsg[]): Promise<ReadonlySet<JsMsg>> {
  const subjects = messages.map(({ subject }) => subject);
  const positions = await positionsOf(database.manager, KEYWORDS_PROJECTION, subjects);
  return new Set(messages.filter(({ subject, seq }) => (positions.get(subject) ?? 0) < seq));
}

/**
 * Returns the outcome of a message whose decision the tables do not contain yet: it is retried. If the keyword was
 * purged, the message is done, because the tables will never contain its decision.
 */
export async function tooEarly(store: EventStore, { subject }: JsMsg): Promise<Outcome> {
  return (await store.lastSeq('KEYWORDS', subject)) > 0 ? retry(RETRY_MS) : done;
}
