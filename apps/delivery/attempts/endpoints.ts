import type { Tx } from '#postgres';
import { channelIdIn } from '../channels/channel.js';
import { DISABLE_AFTER_MS } from '../domain/retry-schedule.js';
import type { AttemptResult } from './delivery.js';
import { addressKey, type Address } from './targets.js';

/** The status with which an endpoint reports that it no longer exists. */
export const GONE = 410;

/** An endpoint that was just disabled. */
export interface DisabledEndpoint {
  /** The attempt after which the endpoint was disabled. */
  last: AttemptResult;
  /** The reason, as text for people. */
  reason: string;
  /** Number of failed attempts in a row. */
  failures: number;
}

/**
 * Records from which time on endpoints fail, or that they work again. The rows of the endpoints stay locked until the
 * transaction ends.
 */
export async function markEndpoints(
  tx: Tx,
  failed: readonly AttemptResult[],
  healed: readonly AttemptResult[],
): Promise<void> {
  const failures = new Map<string, number>();
  for (const { delivery } of failed)
    failures.set(addressKey(delivery), (failures.get(addressKey(delivery)) ?? 0) + 1);
  // An endpoint that is in both lists counts as working.
  const marks = byEndpoint([
    ...failed.map(({ delivery, at, statusCode }) => ({
      ...delivery,
      failingSince: new Date(at),
      statusCode,
    })),
    ...healed.map(({ delivery }) => ({ ...delivery, failingSince: null, statusCode: null })),
  ]);
  if (marks.length === 0) return;
  await tx.query(
    `INSERT INTO webhook_endpoints AS e (account_id, endpoint, failing_since, failures, last_status_code)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::int[], $5::int[])
     ON CONFLICT (account_id, endpoint) DO UPDATE SET
       failing_since = CASE WHEN EXCLUDED.failing_since IS NOT NULL THEN COALESCE(e.failing_since, EXCLUDED.failing_since) END,
       failures = CASE WHEN EXCLUDED.failing_since IS NOT NULL THEN e.failures + EXCLUDED.failures ELSE 0 END,
       last_status_code = EXCLUDED.last_status_code`,
    [
      marks.map(({ accountId }) => accountId),
      marks.map(({ endpoint }) => endpoint),
      marks.map(({ failingSince }) => failingSince),
      marks.map((one) => (one.failingSince ? (failures.get(addressKey(one)) ?? 0) : 0)),
      marks.map(({ statusCode }) => statusCode),
    ],
  );
}

/**
 * Records the time until which destinations of channels accept nothing. This time is compared with the clock of
 * Postgres, so it is computed with that clock.
 */
export async function pauseEndpoints(tx: Tx, results: readonly AttemptResult[]): Promise<void> {
  const pauses = byEndpoint(
    results.flatMap(({ delivery: { accountId, endpoint }, at, durationMs, retryAfterMs }) =>
      retryAfterMs === undefined
        ? []
        : [{ accountId, endpoint, waitMs: at + durationMs + retryAfterMs - Date.now() }],
    ),
  );
  if (pauses.length > 0)
    await tx.query(
      `INSERT INTO webhook_endpoints AS e (account_id, endpoint, paused_until)
       SELECT account_id, endpoint, clock_timestamp() + make_interval(secs => wait)
       FROM unnest($1::uuid[], $2::text[], $3::float8[]) AS p (account_id, endpoint, wait)
       ON CONFLICT (account_id, endpoint) DO UPDATE SET paused_until = GREATEST(e.paused_until, EXCLUDED.paused_until)`,
      [
        pauses.map(({ accountId }) => accountId),
        pauses.map(({ endpoint }) => endpoint),
        pauses.map(({ waitMs }) => waitMs / 1000),
      ],
    );
}

/**
 * Disables webhook addresses after a 410, or after days with only failures.
 * @returns the addresses that this call has disabled
 */
export async function disableEndpoints(
  tx: Tx,
  failed: readonly AttemptResult[],
): Promise<DisabledEndpoint[]> {
  const goneLast = failed
    .filter(({ delivery }) => channelIdIn(delivery.endpoint) === undefined)
    .sort((a, b) => Number(a.statusCode === GONE) - Number(b.statusCode === GONE))
    .map((last) => ({ last, accountId: last.delivery.accountId, endpoint: last.delivery.endpoint }));
  const disabled: DisabledEndpoint[] = [];
  for (const { last, accountId, endpoint } of byEndpoint(goneLast)) {
    const isGone = last.statusCode === GONE;
    const reason = isGone ? 'the endpoint answered 410 Gone' : 'only failures for 5 days';
    const [rows]: [{ failures: number }[]] = await tx.query(
      `UPDATE webhook_endpoints SET disabled_at = $3, disabled_reason = $4
       WHERE account_id = $1 AND endpoint = $2 AND disabled_at IS NULL AND ($5 OR failing_since < $6) RETURNING failures`,
      [accountId, endpoint, new Date(last.at), reason, isGone, new Date(last.at - DISABLE_AFTER_MS)],
    );
    const row = rows[0];
    if (row) disabled.push({ last, reason, failures: row.failures });
  }
  return disabled;
}

/** Returns the channels that have had only failures for days, each with its last failure and the number of failures. */
export async function failingChannels(
  tx: Tx,
  failed: readonly AttemptResult[],
): Promise<{ last: AttemptResult; failures: number }[]> {
  const ofChannels = failed
    .filter(({ delivery }) => channelIdIn(delivery.endpoint) !== undefined)
    .map((last) => ({ last, accountId: last.delivery.accountId, endpoint: last.delivery.endpoint }));
  if (ofChannels.length === 0) return [];
  const rows: { endpoint: string; failures: number }[] = await tx.query(
    'SELECT endpoint, failures FROM webhook_endpoints WHERE endpoint = ANY ($1) AND failing_since < $2',
    [ofChannels.map(({ endpoint }) => endpoint), new Date(Date.now() - DISABLE_AFTER_MS)],
  );
  const failures = new Map(rows.map((row) => [row.endpoint, row.failures]));
  return byEndpoint(ofChannels).flatMap(({ last, endpoint }) => {
    const count = failures.get(endpoint);
    return count === undefined ? [] : [{ last, failures: count }];
  });
}

/** Returns the last entry of each endpoint, always in the same order, so that two batches cannot deadlock. */
function byEndpoint<T extends Address>(all: readonly T[]): T[] {
  const last = new Map(all.map((one) => [addressKey(one), one]));
  return [...last.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
