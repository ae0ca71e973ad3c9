import { fromBinary } from '@bufbuild/protobuf';
import { DeliverPolicy } from '@nats-io/jetstream';
import { LookupSchema } from '#contracts';
import { chargeIdOf } from '#kernel';
import { subjectOf, type Bus } from '#messaging';
import type { Database } from '#postgres';

/** Maximum difference between the clocks of the stream and of the tables. */
const CLOCKS_APART_MS = 60_000;

/**
 * Returns the cost in credits of an earlier lookup with this id; undefined if no answer was published. If a lookup is
 * repeated, even hours later, the caller gets an answer and is not charged again.
 */
export async function costOfEarlierLookup(
  database: Database,
  bus: Bus,
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
  return doneAt ? costOnStream(bus, accountId, lookupId, doneAt) : undefined;
}

/**
 * Looks for the fact in the stream, because the fact is not charged yet, and it is unknown whether the fact was stored.
 */
async function costOnStream(
  bus: Bus,
  accountId: string,
  lookupId: string,
  doneAt: Date,
): Promise<number | undefined> {
  const consumer = await bus.js.consumers.get('LOOKUPS', {
    filter_subjects: subjectOf('LOOKUPS', accountId),
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(doneAt.getTime() - CLOCKS_APART_MS).toISOString(),
  });
  const waiting = (await consumer.info()).num_pending;
  if (waiting === 0) return undefined;
  let cost: number | undefined;
  for await (const { data } of await consumer.fetch({ max_messages: waiting })) {
    const fact = fromBinary(LookupSchema, data);
    if (fact.lookupId === lookupId) cost ??= fact.costCredits;
  }
  return cost;
}
