import type { Database, Tx } from '#postgres';
import { isRecorded } from '#telemetry';
import { keyOf, type Addressed, type Delivery, type DeliveryKey, type TargetKind } from './delivery.js';
import { addressKey, type Address } from './targets.js';

/** A claimed row can be claimed again after this time. While its attempt runs, its claim is extended. */
export const CLAIM_SECONDS = 20;

/** The columns `COLUMNS` of a delivery. */
export interface Row {
  event_id: string;
  target_kind: string;
  target_id: string;
  account_id: string;
  watch_id: string;
  keyword_id: string | null;
  source: string;
  endpoint: string;
  first_at: Date;
  event_stored_at: Date | null;
  event_seq: number;
  traceparent: string | null;
}

/** A claimed delivery as its row contains it, without the signing settings and the state of its address. */
export type ClaimedDelivery = Addressed &
  Pick<Delivery, 'body' | 'attempts'> & {
    /** The time of the earliest claim whose result is not in the row, in ms; undefined if there is none. */
    claimedSince?: number | undefined;
  };

/** A delivery that waits in the table. */
export type PendingDelivery = ClaimedDelivery & {
  /** How long it waits from now on, in ms; undefined if it is due at its turn. */
  waitMs?: number | undefined;
};

/** The columns of the table `p` from which `addressedOf` makes a delivery. */
export const COLUMNS =
  'p.event_id, p.target_kind, p.target_id, p.account_id, p.watch_id, p.keyword_id, p.source, p.endpoint, p.first_at, p.event_stored_at, p.event_seq, p.traceparent';
/**
 * The due time of the delivery `row` after `wait` seconds. Claims compare due times with the clock of Postgres. So a wait
 * begins by that clock, and nothing is due later than now because the clock of this service is ahead. Without a wait, the
 * delivery is due at its turn. Only messages of channels have a place, whose time is of the clock of NATS: it keeps the
 * order of the channel.
 */
const dueAfter = (wait: string, row: string) =>
  `coalesce(clock_timestamp() + make_interval(secs => ${wait}), ${row}.event_stored_at, least(${row}.first_at, clock_timestamp()))`;
/** A condition: the row of `p` is the delivery of `k`. */
export const SAME_KEY =
  'p.event_id = k.event_id AND p.target_kind = k.target_kind AND p.target_id = k.target_id';

/** Stores waiting deliveries. If a row already exists, only its number of attempts and its due time change. */
export async function savePending(tx: Tx, deliveries: readonly PendingDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.query(
    `INSERT INTO pending_deliveries (event_id, target_kind, target_id, account_id, watch_id, keyword_id, source, endpoint,
       body, attempts, first_at, due_at, traceparent, by_mail, event_stored_at, event_seq)
     SELECT event_id, target_kind, target_id, account_id, watch_id, keyword_id, source, endpoint, body, attempts, first_at,
       ${dueAfter('p.wait', 'p')}, traceparent, by_mail, event_stored_at, event_seq
     FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[],
       $9::bytea[], $10::int[], $11::timestamptz[], $12::float8[], $13::text[], $14::boolean[], $15::timestamptz[],
       $16::bigint[]) AS p (event_id, target_kind, target_id, account_id, watch_id, keyword_id, source, endpoint, body,
       attempts, first_at, wait, traceparent, by_mail, event_stored_at, event_seq)
     ON CONFLICT (event_id, target_kind, target_id) DO UPDATE SET attempts = EXCLUDED.attempts, due_at = EXCLUDED.due_at, claimed_at = NULL`,
    [
      ...keyColumns(deliveries),
      deliveries.map((one) => one.accountId),
      deliveries.map((one) => one.watchId),
      deliveries.map((one) => one.keywordId || null),
      deliveries.map((one) => one.source),
      deliveries.map((one) => one.endpoint),
      deliveries.map((one) => Buffer.from(one.body)),
      deliveries.map((one) => one.attempts),
      deliveries.map((one) => new Date(one.firstAt)),
      deliveries.map(secondsOf),
      deliveries.map(({ cause }) => (isRecorded(cause) ? cause : null)),
      deliveries.map(({ channelKind }) => channelKind === 'email'),
      deliveries.map(({ place }) => (place ? new Date(place.storedAt) : null)),
      deliveries.map(({ place }) => place?.seq ?? 0),
    ],
  );
}

/**
 * Stores the number of attempts and the due time of deliveries that have rows. Inserts no row: a delivery without a row
 * has ended while its attempt was running, for example because its endpoint was disabled or its keyword was purged.
 */
export async function updatePending(
  tx: Tx,
  deliveries: readonly (DeliveryKey & Pick<PendingDelivery, 'attempts' | 'waitMs'>)[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.query(
    `UPDATE pending_deliveries p SET attempts = k.attempts, due_at = ${dueAfter('k.wait', 'p')}, claimed_at = NULL
     FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::int[], $5::float8[])
       AS k (event_id, target_kind, target_id, attempts, wait) WHERE ${SAME_KEY}`,
    [...keyColumns(deliveries), deliveries.map((one) => one.attempts), deliveries.map(secondsOf)],
  );
}

/** Deletes rows of deliveries that were delivered or given up. @returns the keys (`keyOf`) of the deleted rows */
export async function dropPending(tx: Tx, keys: readonly DeliveryKey[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const [rows]: [Row[]] = await tx.query(
    `DELETE FROM pending_deliveries p USING unnest($1::uuid[], $2::text[], $3::uuid[]) AS k (event_id, target_kind, target_id)
     WHERE ${SAME_KEY} RETURNING ${COLUMNS}`,
    keyColumns(keys),
  );
  return new Set(rows.map((row) => keyOf(addressedOf(row))));
}

/**
 * Deletes pending deliveries of an endpoint that were created not later than `until`, at most `max` of them, and
 * returns them. Rows that another transaction has locked stay: the next claim of such a row finds that the endpoint is
 * disabled. The condition on `by_mail` names both values, so that Postgres can use the index, whose first column is
 * `by_mail`.
 */
export async function dropWaitingAt(
  tx: Tx,
  accountId: string,
  endpoint: string,
  until: Date,
  max: number,
): Promise<Addressed[]> {
  const [rows]: [Row[]] = await tx.query(
    `WITH k AS MATERIALIZED (SELECT event_id, target_kind, target_id FROM pending_deliveries
       WHERE by_mail IN (true, false) AND account_id = $1 AND endpoint = $2 AND first_at <= $3
       LIMIT $4 FOR UPDATE SKIP LOCKED)
     DELETE FROM pending_deliveries p USING k WHERE ${SAME_KEY} RETURNING ${COLUMNS}`,
    [accountId, endpoint, until, max],
  );
  return rows.map(addressedOf);
}

/** Returns the pending deliveries of a replay. The first condition lets Postgres use the partial index of targets. */
export async function waitingFor(tx: Tx, replayId: string): Promise<Addressed[]> {
  const rows: Row[] = await tx.query(
    `SELECT ${COLUMNS} FROM pending_deliveries p
     WHERE p.target_kind <> 'webhook' AND p.target_kind = 'replay' AND p.target_id = $1`,
    [replayId],
  );
  return rows.map(addressedOf);
}

/** Returns the keys (`keyOf`) of the pending deliveries of these events. Without events, asks nothing. */
export async function waitingOf(
  database: Database,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set();
  const rows: Row[] = await database.query(
    `SELECT ${COLUMNS} FROM pending_deliveries p WHERE p.event_id = ANY ($1)`,
    [eventIds],
  );
  return new Set(rows.map((row) => keyOf(addressedOf(row))));
}

/** Returns the keys (`addressKey`) of the addresses at which messages wait for their first attempt. */
export async function crowdedAddresses(
  database: Database,
  addresses: readonly Address[],
): Promise<ReadonlySet<string>> {
  const rows: { account_id: string; endpoint: string }[] = await database.query(
    `SELECT account_id, endpoint FROM (SELECT DISTINCT * FROM unnest($1::uuid[], $2::text[]) AS u (account_id, endpoint)) AS t
     WHERE EXISTS (SELECT 1 FROM pending_deliveries p
       WHERE p.account_id = t.account_id AND p.endpoint = t.endpoint AND p.attempts = 0)`,
    [addresses.map(({ accountId }) => accountId), addresses.map(({ endpoint }) => endpoint)],
  );
  return new Set(rows.map((row) => addressKey({ accountId: row.account_id, endpoint: row.endpoint })));
}

/**
 * Makes claimed rows due again. The caller has made no attempt for these rows.
 * @param waitMs how long they wait; undefined: the rows become due at their turns, so they can be claimed immediately, the
 *   oldest first
 */
export async function returnPending(
  database: Database,
  keys: readonly DeliveryKey[],
  waitMs?: number,
): Promise<void> {
  if (keys.length > 0)
    await database.query(
      `UPDATE pending_deliveries p SET due_at = ${dueAfter('$4', 'p')}, claimed_at = NULL
       FROM unnest($1::uuid[], $2::text[], $3::uuid[]) AS k (event_id, target_kind, target_id) WHERE ${SAME_KEY}`,
      [...keyColumns(keys), secondsOf({ waitMs })],
    );
}

/**
 * Lets the claims of these deliveries end `CLAIM_SECONDS` from now, if they would end earlier. Skips rows that are
 * locked: their results are being recorded, and if both transactions waited for rows of each other, one would fail.
 */
export async function extendClaims(tx: Tx, keys: readonly DeliveryKey[]): Promise<void> {
  if (keys.length > 0)
    await tx.query(
      `WITH k AS MATERIALIZED (SELECT p.event_id, p.target_kind, p.target_id FROM pending_deliveries p
         JOIN unnest($1::uuid[], $2::text[], $3::uuid[]) AS k (event_id, target_kind, target_id) ON ${SAME_KEY}
         FOR UPDATE OF p SKIP LOCKED)
       UPDATE pending_deliveries p SET due_at = greatest(p.due_at, clock_timestamp() + make_interval(secs => $4)),
         claimed_at = coalesce(p.claimed_at, clock_timestamp())
       FROM k WHERE ${SAME_KEY}`,
      [...keyColumns(keys), CLAIM_SECONDS],
    );
}

function secondsOf({ waitMs }: Pick<PendingDelivery, 'waitMs'>): number | null {
  return waitMs === undefined ? null : waitMs / 1000;
}

function keyColumns(keys: readonly DeliveryKey[]): [string[], string[], string[]] {
  return [
    keys.map(({ eventId }) => eventId),
    keys.map(({ target }) => target.kind),
    keys.map(({ target }) => target.id),
  ];
}

/** Returns the delivery of a row. */
export function addressedOf(row: Row): Addressed {
  return {
    eventId: row.event_id,
    target: { kind: row.target_kind as TargetKind, id: row.target_id },
    accountId: row.account_id,
    watchId: row.watch_id,
    keywordId: row.keyword_id ?? '',
    source: row.source,
    endpoint: row.endpoint,
    firstAt: row.first_at.getTime(),
    place: row.event_stored_at ? { storedAt: row.event_stored_at.getTime(), seq: row.event_seq } : undefined,
    pending: true,
    cause: row.traceparent ?? undefined,
  };
}
