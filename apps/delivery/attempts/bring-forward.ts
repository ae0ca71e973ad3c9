import type { Database } from '#postgres';
import { MAX_WAIT_MS } from '../channels/chat-response.js';
import { WAITS_MS } from '../domain/retry-schedule.js';

/** Added to the longest wait, so that only a clock that was set back far has an effect. */
const FAR_MS = 600_000;
/** Maximum number of deliveries that are changed at once. */
const TOGETHER = 10_000;

/**
 * Makes deliveries due that wait for longer than their schedule allows, and ends such pauses of channels. The reason is
 * the clock of Postgres: it was ahead when the wait began, and was set back later. Skips rows that are locked: a later
 * call finds them. Reads all waiting deliveries: about a second for 300,000.
 * @returns true if further deliveries can wait too long
 */
export async function bringForwardFar(database: Database): Promise<boolean> {
  const [, changed]: [unknown[], number] = await database.query(
    `UPDATE pending_deliveries SET due_at = now() WHERE (event_id, target_kind, target_id) IN (
       SELECT event_id, target_kind, target_id FROM pending_deliveries
       WHERE due_at > now() + make_interval(secs => $1 + coalesce(($2::float8[])[attempts], 0))
       LIMIT $3 FOR UPDATE SKIP LOCKED)`,
    [FAR_MS / 1000, WAITS_MS.map((wait) => wait / 1000), TOGETHER],
  );
  await database.query(
    `UPDATE webhook_endpoints SET paused_until = NULL WHERE (account_id, endpoint) IN (
       SELECT account_id, endpoint FROM webhook_endpoints
       WHERE paused_until > now() + make_interval(secs => $1) FOR UPDATE SKIP LOCKED)`,
    [(FAR_MS + MAX_WAIT_MS) / 1000],
  );
  return changed === TOGETHER;
}
