import { toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema, type Event } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf, wasHandledBefore } from '#messaging';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { knownWatches } from '../readmodels/check-sink.js';
import { storedEventIds } from './stored-events.js';

/** An event, and the message from which the event is built. */
export interface EventWithMessage {
  event: Event;
  message: JsMsg;
}

/**
 * Publishes events. If NATS delivers a message again, leaves out the events that EVENTS already contains: NATS drops
 * messages with a repeated id only for two minutes, and delivery would send a repeated event again.
 * @returns the number of published events
 */
export async function publishEvents(store: EventStore, events: readonly EventWithMessage[]): Promise<number> {
  const stored = await storedIds(store, events);
  const missing = events.filter(({ event }) => !stored.has(event.eventId));
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

/**
 * Publishes events about keywords themselves, as `publishEvents` does. Leaves out events of purged keywords.
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
  return publishEvents(
    store,
    events.filter(({ event }) => known.has(event.keywordId)),
  );
}

/** Returns the ids of the events of repeated messages that EVENTS already contains. Reads each subject only once. */
async function storedIds(store: EventStore, events: readonly EventWithMessage[]): Promise<Set<string>> {
  const firstOf = new Map<string, Event>();
  for (const { event } of events.filter(({ message }) => wasHandledBefore(message))) {
    const subject = subjectOf('EVENTS', event.accountId, event.watchId);
    const first = firstOf.get(subject);
    if (!first || event.occurredAt < first.occurredAt) firstOf.set(subject, event);
  }
  const found = await Promise.all(
    [...firstOf.values()].map((event) => storedEventIds(store, event, event.occurredAt)),
  );
  return new Set(found.flatMap((ids) => [...ids]));
}
