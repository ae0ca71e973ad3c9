import type { JsMsg } from '@nats-io/jetstream';
import type { EventStore } from '#event-store';
import { done, retry, type Outcome } from '#messaging';
import type { Database } from '#postgres';
import { KEYWORDS_PROJECTION, positionsOf } from '#projections';

const RETRY_MS = 200;

/** The decisions about keywords that the tables do not contain yet. */
export async function earlyOf(database: Database, messages: readonly JsMsg[]): Promise<ReadonlySet<JsMsg>> {
  const subjects = messages.map(({ subject }) => subject);
  const positions = await positionsOf(database.manager, KEYWORDS_PROJECTION, subjects);
  return new Set(messages.filter(({ subject, seq }) => (positions.get(subject) ?? 0) < seq));
}

/** Retries an early decision. The tables never contain a purged keyword again, so its decisions are dropped. */
export async function tooEarly(store: EventStore, { subject }: JsMsg): Promise<Outcome> {
  return (await store.lastSeq('KEYWORDS', subject)) > 0 ? retry(RETRY_MS) : done;
}
