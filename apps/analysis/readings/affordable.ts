import { creditsPerReading, READING_DEADLINE_MS } from '#contracts';
import { reserve } from '#credits';
import type { Database } from '#postgres';
import { coBrandCredits } from '../domain/reading-charges.js';
import { REMEMBERED_MS, type RecentSpending } from './recent-spending.js';
import type { Readable } from './readable.js';

/**
 * How long a reservation lasts: the time that an event can wait for a language model, plus the time until billing has
 * charged the event.
 */
const RESERVED_SECONDS = READING_DEADLINE_MS / 1000 + 180;

/**
 * If an account has fewer credits than this after a batch, the cost of the batch is reserved. Within the seconds before
 * billing charges the batch, other replicas almost never spend more than this from one account.
 */
const FEW_CREDITS = 10_000;

interface Row {
  account_id: string;
  free: number;
}

/**
 * Returns the maximum cost of the readings of an item, in credits: sentiment and intent, the bucket, the agent step,
 * co-brands. Language, relevance and story are free.
 */
export function maxCredits({ item, settings: { analysis, definition, agentStep } }: Readable): number {
  return (
    (analysis ? creditsPerReading('analysis') : 0) +
    (definition?.aiEnabled && definition.aiPreset ? creditsPerReading('bucket') : 0) +
    (agentStep ? creditsPerReading('agent_step') : 0) +
    (definition?.coBrandsEnabled ? coBrandCredits(item.source, item.eventType) : 0)
  );
}

/**
 * Finds the items whose priced readings the accounts can pay. The items are checked in order; each item uses a part of
 * the account's credits. An item that costs more than the remaining credits is stored without these readings. If an
 * account has few credits left, the cost of its items is reserved until it is charged. So other replicas do not spend
 * these credits too.
 * @param spending what this process has let accounts spend without a reservation
 * @returns the event ids of the items that can be paid
 */
export async function affordable(
  database: Database,
  items: readonly Readable[],
  spending: RecentSpending,
): Promise<ReadonlySet<string>> {
  if (items.length === 0) return new Set();
  const eventIds = items.map(({ eventId }) => eventId);
  // If items are read again, their own reservations are left out.
  const rows: Row[] = await database.query(
    `SELECT b.account_id, b.balance - COALESCE((SELECT sum(c.amount) FROM credit_reservations c
         WHERE c.account_id = b.account_id AND c.expires_at > now() AND c.reservation_id <> ALL($2)), 0)::bigint AS free
     FROM credit_balances b WHERE b.account_id = ANY($1)`,
    [[...new Set(items.map(({ check }) => check.accountId))], eventIds],
  );
  const recent = spending.byAccount(new Set(eventIds));
  const free = new Map(rows.map((row) => [row.account_id, row.free - (recent.get(row.account_id) ?? 0)]));
  const covered = items.filter((item) => {
    const { accountId } = item.check;
    const remaining = (free.get(accountId) ?? 0) - maxCredits(item);
    if (remaining >= 0) free.set(accountId, remaining);
    return remaining >= 0;
  });
  const needsReservation = (item: Readable) =>
    (free.get(item.check.accountId) ?? 0) < FEW_CREDITS && maxCredits(item) > 0;
  const paid = await reserved(database, covered.filter(needsReservation), REMEMBERED_MS / 1000);
  const others = covered.filter((item) => !needsReservation(item));
  for (const item of others) spending.add(item.eventId, item.check.accountId, maxCredits(item));
  return new Set([...paid, ...others.map(({ eventId }) => eventId)]);
}

/**
 * Does the same as `affordable` for items that can wait for a language model. Reserves their maximum cost until they
 * are charged or the reservation ends, so that the account cannot spend these credits on other work.
 * @param lifetimeSeconds how long the reservations last without a charge
 */
export async function reserved(
  database: Database,
  items: readonly Readable[],
  lifetimeSeconds = RESERVED_SECONDS,
): Promise<ReadonlySet<string>> {
  const { shortages, unopened } = await reserve(
    database,
    items.map((item) => ({
      reservationId: item.eventId,
      accountId: item.check.accountId,
      credits: maxCredits(item),
      lifetimeSeconds,
      holder: item.eventId,
    })),
  );
  return new Set(
    items.flatMap(({ eventId }) => (shortages.has(eventId) || unopened.has(eventId) ? [] : [eventId])),
  );
}
