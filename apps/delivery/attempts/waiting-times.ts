import type { Database } from '#postgres';

/**
 * Returns the age of the oldest waiting delivery (`oldest`) and the longest delay of a delivery (`late`), both in
 * seconds; null if there is no such delivery. The delay of a delivery without an attempt is its age, because each claim
 * moves its due time. The delay of any other delivery begins at its due time. A delivery has no delay while its endpoint
 * has asked the sender to wait.
 */
export async function waitingTimes(
  database: Database,
): Promise<{ oldest: number | null; late: number | null }> {
  const [times]: { oldest: number | null; late: number | null }[] = await database.query(
    `SELECT extract(epoch FROM now() - (SELECT min(first_at) FROM pending_deliveries))::float8 AS oldest,
       extract(epoch FROM now() - (
         SELECT min(CASE WHEN p.attempts = 0 THEN p.first_at ELSE p.due_at END)
         FROM pending_deliveries p LEFT JOIN webhook_endpoints w USING (account_id, endpoint)
         WHERE (p.attempts = 0 OR p.due_at <= now()) AND coalesce(w.paused_until <= now(), true)))::float8 AS late`,
  );
  return times ?? { oldest: null, late: null };
}
