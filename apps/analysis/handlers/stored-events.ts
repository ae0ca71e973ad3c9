import { fromBinary } from '@bufbuild/protobuf';
import { EventCostSchema, type Event } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';

/**
 * Returns the ids of the watch's events that EVENTS has received since an instant (ISO 8601). If NATS delivers a
 * message again, events that EVENTS already contains must not be published. NATS drops messages with a repeated id only
 * for two minutes, and settings can have changed meanwhile.
 */
export async function storedEventIds(
  store: EventStore,
  { accountId, watchId }: Pick<Event, 'accountId' | 'watchId'>,
  since: string,
): Promise<ReadonlySet<string>> {
  // The event is decoded with the smallest schema that contains the id.
  const idOf = ({ data }: { data: Uint8Array }) => fromBinary(EventCostSchema, data).eventId;
  return new Set(
    await store.readSince('EVENTS', subjectOf('EVENTS', accountId, watchId), new Date(since), idOf),
  );
}
