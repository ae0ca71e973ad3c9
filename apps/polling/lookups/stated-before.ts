import { fromBinary } from '@bufbuild/protobuf';
import { DeliverPolicy } from '@nats-io/jetstream';
import { LookupSchema } from '#contracts';
import { chargeIdOf } from '#kernel';
import { subjectOf, type Bus } from '#messaging';
import type { Database } from '#postgres';

/** The clocks of the stream and of the tables may differ. */
const CLOCKS_APART_MS = 60_000;

/**
 * What a question with this id has cost already, in credits: asked again, hours later too, it is answered and not paid
 * again. Undefined where no answer to it was stated.
 */
export async function statedBefore(
  database: Database,
  bus: Bus,
  accountId: string,
  lookupId: string,
): Promise<number | undefined> {
  // Which of the two it is can change between two statements, in one direction: from held to charged.
  const holds: { done_at: Date | null }[] = await database.query(
    'SELECT done_at FROM credit_holds WHERE hold_id = $1 AND account_id = $2',
    [lookupId, accountId],
  );
  const charges: { rate: number; units: number }[] = await database.query(
    'SELECT rate, units FROM credit_movements WHERE movement_id = $1 AND account_id = $2',
    [chargeIdOf(lookupId), accountId],
  );
  if (charges[0]) return charges[0].rate * charges[0].units;
  const doneAt = holds[0]?.done_at;
  return doneAt ? statedSince(bus, accountId, lookupId, doneAt) : undefined;
}

/** The fact was about to be stored then, and is not charged yet: whether it is there is asked of the stream. */
async function statedSince(
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
