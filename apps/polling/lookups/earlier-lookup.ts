import { fromBinary } from '@bufbuild/protobuf';
import { LookupSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { chargeIdOf } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database } from '#postgres';

/**
 * Returns the cost in credits of an earlier lookup with this id; undefined if no answer was published. If a lookup is
 * repeated, even hours later, the caller gets an answer and is not charged again.
 */
export async function costOfEarlierLookup(
  database: Database,
  store: EventStore,
  accountId: string,
  lookupId: string,
): Promise<number | undefined> {
  // The queries have this order because the state can change between them only in one direction: from reserved to
  // charged.
  const reservations: { done_at: Date | null }[] = await database.query(
    'SELECT done_at FROM credit_reservations WHERE reservation_id = $1 AND account_id = $2',
    [lookupId, accountId],
  );
  const charges: { rate: number; units: number }[] = await database.query(
    'SELECT rate, units FROM credit_movements WHERE movement_id = $1 AND account_id = $2',
    [chargeIdOf(lookupId), accountId],
  );
  if (charges[0]) return charges[0].rate * charges[0].units;
  const doneAt = reservations[0]?.done_at;
  return doneAt ? costOnStream(store, accountId, lookupId, doneAt) : undefined;
}

/**
 * Looks for the fact in the stream, because the fact is not charged yet, and it is unknown whether the fact was stored.
 */
async function costOnStream(
  store: EventStore,
  accountId: string,
  lookupId: string,
  doneAt: Date,
): Promise<number | undefined> {
  const subject = subjectOf('LOOKUPS', accountId);
  const costs = await store.readSince('LOOKUPS', subject, doneAt, ({ data }) => {
    const fact = fromBinary(LookupSchema, data);
    return fact.lookupId === lookupId ? fact.costCredits : undefined;
  });
  return costs.find((cost) => cost !== undefined);
}
