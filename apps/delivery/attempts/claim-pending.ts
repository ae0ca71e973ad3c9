import { together, type Database, type Tx } from '#postgres';
import {
  addressedOf,
  CLAIM_SECONDS,
  COLUMNS,
  SAME_KEY,
  type ClaimedDelivery,
  type Row,
} from './pending-deliveries.js';
import type { Address } from './targets.js';

/** The seed of the advisory locks for claims. `ledger-tables.ts` lists the other seeds. */
const CLAIMS_LOCK = 3;
/** Up to this number of due deliveries, a claim visits only their endpoints. */
const FEW_DUE = 1000;

/** Which deliveries a claim takes, and how many. */
export interface ClaimLimits {
  /** True: claim deliveries to email channels; false: claim all others. */
  byMail: boolean;
  /** Maximum number of deliveries of each endpoint. */
  perEndpoint: number;
  /** Maximum number of deliveries. */
  max: number;
  /** The claim begins after this endpoint; undefined: at the first endpoint. */
  after?: Address | undefined;
}

type ClaimedRow = Row & { body: Buffer; attempts: number; claimed_since: Date | null; n: number };

/**
 * Claims due deliveries, at most `perEndpoint` of each endpoint, so that a long queue of one endpoint does not delay
 * the others. The query visits one endpoint after the other, in the order of the index, until it has `max` deliveries. If
 * few deliveries are due, it visits only their endpoints, because tens of thousands of endpoints can wait for a retry.
 * Messages of a channel are not claimed while earlier claims of the channel wait for their first attempt, because another
 * replica would overtake them. This condition does not apply to mails.
 * @param except endpoints that accept nothing now
 * @returns in the order of their endpoints
 */
export async function claimPending(
  database: Database,
  limits: ClaimLimits,
  except: readonly string[] = [],
): Promise<ClaimedDelivery[]> {
  const [, rows] = await database.transaction((tx) =>
    // Replicas claim one after the other, so that each sees the claims of the others. now() would be the time before the
    // wait for the lock, so the statement uses its own time.
    together([
      tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, $2))', [
        String(limits.byMail),
        CLAIMS_LOCK,
      ]),
      claimRows(tx, limits, except),
    ]),
  );
  return rows
    .sort((a, b) => a.n - b.n)
    .map((row) => ({
      ...addressedOf(row),
      body: row.body,
      attempts: row.attempts,
      claimedSince: row.claimed_since?.getTime(),
    }));
}

async function claimRows(
  tx: Tx,
  { byMail, perEndpoint, max, after }: ClaimLimits,
  except: readonly string[],
): Promise<ClaimedRow[]> {
  const [rows]: [ClaimedRow[]] = await tx.query(
    `WITH RECURSIVE due AS MATERIALIZED (
       SELECT account_id, endpoint FROM pending_deliveries
       WHERE by_mail = $4 AND due_at AT TIME ZONE 'UTC' <= statement_timestamp() AT TIME ZONE 'UTC'
       ORDER BY due_at AT TIME ZONE 'UTC' LIMIT ${FEW_DUE} + 1),
     few AS (SELECT count(*) <= ${FEW_DUE} AS are_all FROM due),
     walk AS (
       (SELECT account_id, endpoint FROM pending_deliveries
        WHERE NOT (SELECT are_all FROM few) AND by_mail = $4 AND (account_id, endpoint) > ($6::uuid, $7)
        ORDER BY account_id, endpoint LIMIT 1)
       UNION ALL
       SELECT n.account_id, n.endpoint FROM walk e, LATERAL (
         SELECT account_id, endpoint FROM pending_deliveries p
         WHERE by_mail = $4 AND (p.account_id, p.endpoint) > (e.account_id, e.endpoint)
         ORDER BY account_id, endpoint LIMIT 1) n),
     endpoints AS (
       SELECT account_id, endpoint FROM walk
       UNION ALL
       (SELECT DISTINCT account_id, endpoint FROM due
        WHERE (SELECT are_all FROM few) AND (account_id, endpoint) > ($6::uuid, $7) ORDER BY account_id, endpoint)),
     d AS (SELECT p.* FROM endpoints e LEFT JOIN webhook_endpoints w USING (account_id, endpoint), LATERAL (
       SELECT event_id, target_kind, target_id, claimed_at AS claimed_since FROM pending_deliveries p
       WHERE by_mail = $4 AND p.account_id = e.account_id AND p.endpoint = e.endpoint AND p.due_at <= statement_timestamp()
       ORDER BY p.due_at, p.event_seq LIMIT $1 FOR UPDATE SKIP LOCKED) p
       WHERE NOT (e.endpoint = ANY ($3)) AND coalesce(w.paused_until <= statement_timestamp(), true)
         AND ($4 OR e.endpoint NOT LIKE 'channel:%' OR NOT EXISTS (
           SELECT 1 FROM pending_deliveries c
           WHERE c.by_mail = $4 AND c.account_id = e.account_id AND c.endpoint = e.endpoint AND c.attempts = 0
             AND c.due_at > statement_timestamp() AND c.due_at <= statement_timestamp() + make_interval(secs => 2 * $2)
             -- A message that waits for its turn is not claimed. Its turn comes later if the clock of NATS is ahead.
             AND c.due_at <> coalesce(c.event_stored_at, c.first_at)))
       LIMIT $5),
     k AS MATERIALIZED (SELECT d.*, row_number() OVER () AS n FROM d)
     UPDATE pending_deliveries p SET due_at = clock_timestamp() + make_interval(secs => $2),
       claimed_at = coalesce(p.claimed_at, clock_timestamp())
     FROM k WHERE ${SAME_KEY} RETURNING ${COLUMNS}, p.body, p.attempts, k.claimed_since, k.n`,
    [perEndpoint, CLAIM_SECONDS, except, byMail, max, after?.accountId ?? FIRST, after?.endpoint ?? ''],
  );
  return rows;
}

/** The lowest UUID; no account has it as its id. */
const FIRST = '00000000-0000-0000-0000-000000000000';
