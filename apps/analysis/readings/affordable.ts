import { creditsPerReading } from '#contracts';
import type { Database } from '#postgres';
import { coBrandCredits } from '../domain/reading-charges.js';
import type { RecentSpending } from './recent-spending.js';
import type { Readable } from './readable.js';

/** Credits of an event that waits for everything: sentiment and intent, a bucket, a step. */
const MOST_OF_A_QUESTION =
  creditsPerReading('analysis') + creditsPerReading('bucket') + creditsPerReading('agent_step');

interface Row {
  account_id: string;
  free: number;
}

/**
 * The most that the readings of an item can cost, in credits: sentiment and intent, the bucket, the agent step, co-brands. Language,
 * relevance and story are free.
 */
export function mostCredits({ item, settings: { analysis, definition, agentStep } }: Readable): number {
  return (
    (analysis ? creditsPerReading('analysis') : 0) +
    (definition?.aiEnabled && definition.aiPreset ? creditsPerReading('bucket') : 0) +
    (agentStep ? creditsPerReading('agent_step') : 0) +
    (definition?.coBrandsEnabled ? coBrandCredits(item.source, item.eventType) : 0)
  );
}

/**
 * The items whose priced readings their accounts can pay, the first ones of each account. The others are stored without
 * these readings.
 * @returns their event ids
 */
export async function affordable(
  database: Database,
  items: readonly Readable[],
  spending: RecentSpending,
): Promise<ReadonlySet<string>> {
  if (items.length === 0) return new Set();
  const rows: Row[] = await database.query(
    // An event that waits for a language model is charged when it is answered.
    `SELECT b.account_id, b.balance - COALESCE((SELECT sum(h.amount) FROM credit_holds h
         WHERE h.account_id = b.account_id AND h.expires_at > now()), 0)::bigint
       - $2 * (SELECT count(*) FROM waiting_readings q WHERE q.account_id = b.account_id) AS free
     FROM credit_balances b WHERE b.account_id = ANY($1)`,
    [[...new Set(items.map(({ check }) => check.accountId))], MOST_OF_A_QUESTION],
  );
  const recent = spending.byAccount();
  const free = new Map(rows.map((row) => [row.account_id, row.free - (recent.get(row.account_id) ?? 0)]));
  return new Set(
    items.flatMap((item) => {
      const { accountId } = item.check;
      const left = (free.get(accountId) ?? 0) - mostCredits(item);
      if (left < 0) return [];
      free.set(accountId, left);
      spending.add(accountId, mostCredits(item));
      return [item.eventId];
    }),
  );
}
