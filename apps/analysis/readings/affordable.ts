import { creditsPerReading } from '#contracts';
import type { Database } from '#postgres';
import { coBrandCredits } from '../domain/reading-charges.js';
import type { Readable } from './readable.js';

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
): Promise<ReadonlySet<string>> {
  if (items.length === 0) return new Set();
  const rows: Row[] = await database.query(
    `SELECT b.account_id, b.balance - COALESCE((SELECT sum(h.amount) FROM credit_holds h
       WHERE h.account_id = b.account_id AND h.expires_at > now()), 0)::bigint AS free
     FROM credit_balances b WHERE b.account_id = ANY($1)`,
    [[...new Set(items.map(({ check }) => check.accountId))]],
  );
  const free = new Map(rows.map((row) => [row.account_id, row.free]));
  return new Set(
    items.flatMap((item) => {
      const { accountId } = item.check;
      const left = (free.get(accountId) ?? 0) - mostCredits(item);
      if (left < 0) return [];
      free.set(accountId, left);
      return [item.eventId];
    }),
  );
}
