import type { Database, Tx } from '#postgres';
import type { Delivery } from './delivery.js';
import type { Targets } from './targets.js';

/** Longer than an attempt may take: a claimed row is not claimed again before. */
const CLAIM_SECONDS = 20;

interface Row {
  event_id: string;
  account_id: string;
  watch_id: string;
  keyword_id: string | null;
  source: string;
  endpoint: string;
  body: Buffer;
  attempts: number;
  first_at: Date;
}

/** A delivery that waits in the table until `dueAt` (ms). */
export type PendingDelivery = Delivery & { dueAt: number };

/** Writes deliveries that wait; a row that stands already is brought up to date. */
export async function savePending(tx: Tx, deliveries: readonly PendingDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.query(
    `INSERT INTO pending_deliveries
       (event_id, account_id, watch_id, keyword_id, source, endpoint, body, attempts, first_at, due_at)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bytea[], $8::int[],
       $9::timestamptz[], $10::timestamptz[])
     ON CONFLICT (event_id) DO UPDATE SET attempts = EXCLUDED.attempts, due_at = EXCLUDED.due_at`,
    [
      deliveries.map((one) => one.eventId),
      deliveries.map((one) => one.accountId),
      deliveries.map((one) => one.watchId),
      deliveries.map((one) => one.keywordId || null),
      deliveries.map((one) => one.source),
      deliveries.map((one) => one.endpoint),
      deliveries.map((one) => Buffer.from(one.body)),
      deliveries.map((one) => one.attempts),
      deliveries.map((one) => new Date(one.firstAt)),
      deliveries.map((one) => new Date(one.dueAt)),
    ],
  );
}

/** Takes rows away: delivered, or given up. */
export async function dropPending(tx: Tx, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0)
    await tx.query('DELETE FROM pending_deliveries WHERE event_id = ANY($1)', [eventIds]);
}

/** Takes away what waits for an endpoint; a row that somebody holds just now is left to who claims it next. */
export async function dropWaiting(tx: Tx, accountId: string, endpoint: string): Promise<void> {
  await tx.query(
    `DELETE FROM pending_deliveries WHERE event_id IN (SELECT event_id FROM pending_deliveries
       WHERE account_id = $1 AND endpoint = $2 FOR UPDATE SKIP LOCKED)`,
    [accountId, endpoint],
  );
}

/** Makes claimed rows due at once: the attempt was not made. */
export async function returnPending(
  database: Database,
  eventIds: readonly string[],
  dueAt: Date,
): Promise<void> {
  if (eventIds.length > 0)
    await database.query('UPDATE pending_deliveries SET due_at = $2 WHERE event_id = ANY($1)', [
      eventIds,
      dueAt,
    ]);
}

/**
 * Takes deliveries that are due, at most `perEndpoint` of each endpoint, so that a long queue of one starves no
 * other. The endpoints are walked along the index, which costs as many steps as there are endpoints.
 */
export async function claimPending(
  database: Database,
  targets: Targets,
  perEndpoint: number,
): Promise<Delivery[]> {
  const [rows]: [Row[]] = await database.query(
    `WITH RECURSIVE endpoints AS (
       (SELECT account_id, endpoint FROM pending_deliveries ORDER BY account_id, endpoint LIMIT 1)
       UNION ALL
       SELECT n.account_id, n.endpoint FROM endpoints e, LATERAL (
         SELECT account_id, endpoint FROM pending_deliveries p
         WHERE (p.account_id, p.endpoint) > (e.account_id, e.endpoint) ORDER BY account_id, endpoint LIMIT 1) n)
     UPDATE pending_deliveries SET due_at = now() + make_interval(secs => $2)
     WHERE event_id = ANY (ARRAY(SELECT d.event_id FROM endpoints e, LATERAL (
       SELECT event_id FROM pending_deliveries p
       WHERE p.account_id = e.account_id AND p.endpoint = e.endpoint AND p.due_at <= now()
       ORDER BY p.due_at LIMIT $1 FOR UPDATE SKIP LOCKED) d))
     RETURNING event_id, account_id, watch_id, keyword_id, source, endpoint, body, attempts, first_at`,
    [perEndpoint, CLAIM_SECONDS],
  );
  if (rows.length === 0) return [];
  const known = await targets.of(rows.map((row) => row.watch_id));
  // An attempt that was under way while its endpoint was disabled has left its row behind: it goes too.
  const gone = rows.filter((row) => known.get(row.watch_id)?.disabled !== false);
  await dropPending(
    database.manager,
    gone.map((row) => row.event_id),
  );
  return rows.flatMap((row) => {
    const target = known.get(row.watch_id);
    return target && !target.disabled
      ? [deliveryOf(row, target.endpoint, target.secret, target.failingSince)]
      : [];
  });
}

function deliveryOf(row: Row, endpoint: string, secret: string, failingSince: number | undefined): Delivery {
  return {
    eventId: row.event_id,
    accountId: row.account_id,
    watchId: row.watch_id,
    keywordId: row.keyword_id ?? '',
    source: row.source,
    endpoint,
    body: row.body,
    secret,
    attempts: row.attempts,
    firstAt: row.first_at.getTime(),
    failingSince,
    pending: true,
  };
}
