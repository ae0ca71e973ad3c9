import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema, type Event } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { knownWatches } from '../readmodels/check-sink.js';

/** An event about a keyword itself, and the message that it is made of. */
export interface MadeEvent {
  event: Event;
  message: JsMsg;
}

/** Clocks of the process that decided and of the stream can differ. */
const CLOCKS_APART_MS = 60_000;

/**
 * Publishes events about keywords themselves, without those of purged keywords. NATS drops a repeated id for two minutes
 * only: an event of a message that is delivered again is published only if EVENTS does not contain it.
 * @returns their number
 */
export async function publishKeywordEvents(
  store: EventStore,
  database: Database,
  made: readonly MadeEvent[],
): Promise<number> {
  const known = await knownWatches(
    database,
    made.map(({ event }) => event.keywordId),
  );
  const present = made.filter(({ event }) => known.has(event.keywordId));
  const stored = await Promise.all(present.map((one) => isStored(store, one)));
  const missing = present.filter((_, n) => !stored[n]);
  await store.publishAll(
    missing.map(({ event, message }) => ({
      subject: subjectIn(event),
      data: toBinary(EventSchema, event),
      msgId: event.eventId,
      cause: causeOf(message),
    })),
  );
  return missing.length;
}

async function isStored(store: EventStore, { event, message }: MadeEvent): Promise<boolean> {
  if (!message.redelivered) return false;
  const since = new Date(Date.parse(event.occurredAt) - CLOCKS_APART_MS);
  const found = await store.readSince('EVENTS', subjectIn(event), since);
  return found.some(({ data }) => fromBinary(EventSchema, data).eventId === event.eventId);
}

function subjectIn({ accountId, watchId }: Event): string {
  return subjectOf('EVENTS', accountId, watchId);
}
