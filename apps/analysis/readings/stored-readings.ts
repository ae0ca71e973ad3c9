import { fromBinary } from '@bufbuild/protobuf';
import { ReadingFactSchema, type Check, type ItemReading } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';

/**
 * Returns the readings that were stored when the check was processed before, by event id. A reading is not repeated:
 * the same check always gives the same events, even after a change of the models.
 */
export async function storedReadings(
  store: EventStore,
  { accountId, watchId, checkId, part, finishedAt }: Check,
): Promise<Map<string, ItemReading>> {
  const readingsIn = ({ data }: { data: Uint8Array }): ItemReading[] => {
    const { fact } = fromBinary(ReadingFactSchema, data);
    const isOfCheck = fact.case === 'itemsRead' && fact.value.checkId === checkId && fact.value.part === part;
    return isOfCheck ? fact.value.readings : [];
  };
  const subject = subjectOf('READINGS', accountId, watchId);
  const stored = (await store.readSince('READINGS', subject, new Date(finishedAt), readingsIn)).flat();
  // The first reading of an event counts.
  return new Map(stored.toReversed().map((reading) => [reading.eventId, reading]));
}
