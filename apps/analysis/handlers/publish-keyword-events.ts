import { toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema, type Event } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf, wasHandledBefore } from '#messaging';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { knownWatches } from '../readmodels/check-sink.js';
import { storedEventIds } from './stored-events.js';

/** An event about a keyword itself, and the message from which the event is built. */
export interface EventWithMessage {
  event: Event;
  message: JsMsg;
}

/**
 * Publishes events about keywords themselves. Leaves out events of purged keywords. If NATS delivers a message again,
 * also leaves out events that EVENTS already contains.
 * @returns the number of published events
 */
export async function publishKeywordEvents(
  store: EventStore,
  database: Database,
  events: readonly EventWithMessage[],
): Promise<number> {
  const known = await knownWatches(
    database,
    events.map(({ event }) => event.keywordId),
  );
  const present = events.filter(({ event }) => known.has(event.keywordId));
  const stored = await Promise.all(present.map((one) => isStored(store, one)));
  const missing = present.filter((_, n) => !stored[n]);
  await store.publishAll(
    missing.map(({ event, message }) => ({
      subject: subjectOf('EVENTS', event.accountId, event.watchId),
      data: toBinary(EventSchema, event),
      msgId: event.eventId,
      cause: causeOf(message),
    })),
  );
  return missing.length;
}

async function isStored(store: EventStore, { event, message }: EventWithMessage): Promise<boolean> {
  if (!wasHandledBefore(message)) return false;
  return (await storedEventIds(store, event, event.occurredAt)).has(event.eventId);
}
