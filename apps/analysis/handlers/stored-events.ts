import { fromBinary } from '@bufbuild/protobuf';
import { EventCostSchema, type Event } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';

/** The maximum difference between the clock of the process that made an event and the clock of NATS. */
const CLOCKS_APART_MS = 60_000;

/**
 * Returns the ids of the watch's events that EVENTS has received since an instant (ISO 8601). When a message is
 * delivered again, events that EVENTS already contains are not published: NATS drops a repeated id for two minutes
 * only, and settings can have changed meanwhile.
 */
export async function storedEventIds(
  store: EventStore,
  { accountId, watchId }: Pick<Event, 'accountId' | 'watchId'>,
  since: string,
): Promise<ReadonlySet<string>> {
  const from = new Date(Date.parse(since) - CLOCKS_APART_MS);
  const found = await store.readSince('EVENTS', subjectOf('EVENTS', accountId, watchId), from);
  // Decodes with the smallest schema that contains the id.
  return new Set(found.map(({ data }) => fromBinary(EventCostSchema, data).eventId));
}
