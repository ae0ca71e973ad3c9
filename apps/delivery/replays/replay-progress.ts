import { newId } from '#kernel';
import type { Database, Tx } from '#postgres';
import type { DeliveryKey } from '../attempts/delivery.js';
import type { ReplayCounts } from '../domain/replay.js';
import type { Position } from './event-index.js';

/**
 * A claim ends after this time, and another replica can take the replay. A turn (see `Turn`) is shorter: it sends
 * events for at most 2 seconds (`TURN_MS`), and then waits for at most one attempt. A replica keeps its claims while an
 * outage delays the record of its attempts.
 */
const CLAIM_SECONDS = 20;
/**
 * A replay waits at most a few seconds between two turns. If its next turn is more than this time ahead, the clock was
 * set back, and the replay is due.
 */
const FAR_SECONDS = 60;

/** The reason for the end of a replay whose keyword was purged. */
export const PURGED = 'the keyword was purged';

/** A replay that this process runs. */
export interface ClaimedReplay extends ReplayCounts {
  replayId: string;
  accountId: string;
  /** Exactly one of `keywordId` and `watchId` is null. */
  keywordId: string | null;
  watchId: string | null;
  since: Date;
  until: Date;
  url: string;
  types: readonly string[];
  ratePerSecond: number;
  status: 'queued' | 'running';
  /** Undefined until the replay has started. */
  matched: number | undefined;
  /** The last event that was processed: it got its first attempt, or EVENTS does not contain it. */
  after: Position | undefined;
  upToSeq: number;
  /** The id of this process's claim. */
  claim: string;
}

interface Row {
  replay_id: string;
  account_id: string;
  keyword_id: string | null;
  watch_id: string | null;
  since: Date;
  until: Date;
  url: string;
  types: string[];
  rate_per_second: number;
  status: 'queued' | 'running';
  matched: number | null;
  sent: number;
  failed: number;
  missing: number;
  after_at: string | null;
  after_id: string | null;
  up_to_seq: number;
  claim: string;
}

/**
 * Claims at most `max` of the replays that are due: those that have been due for the longest time.
 * @param except replays that this process runs now. After an outage of Postgres, their claims can have ended
 */
export async function claimReplays(
  database: Database,
  max: number,
  except: readonly string[],
): Promise<ClaimedReplay[]> {
  const [rows]: [Row[]] = await database.query(
    `UPDATE replays SET claim = $2, due_at = now() + make_interval(secs => $3)
     WHERE replay_id IN (SELECT replay_id FROM replays WHERE status IN ('queued', 'running')
         AND (due_at <= now() OR claim IS NULL AND due_at > now() + interval '${FAR_SECONDS} seconds')
         AND replay_id <> ALL ($4)
       ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    [max, newId(), CLAIM_SECONDS, except],
  );
  return rows.map((row) => ({
    replayId: row.replay_id,
    accountId: row.account_id,
    keywordId: row.keyword_id,
    watchId: row.watch_id,
    since: row.since,
    until: row.until,
    url: row.url,
    types: row.types,
    ratePerSecond: row.rate_per_second,
    status: row.status,
    matched: row.matched ?? undefined,
    sent: row.sent,
    failed: row.failed,
    missing: row.missing,
    after:
      row.after_at !== null && row.after_id !== null ? { at: row.after_at, id: row.after_id } : undefined,
    upToSeq: row.up_to_seq,
    claim: row.claim,
  }));
}

/** Lets these claims end `CLAIM_SECONDS` from now, if they have not been replaced. */
export async function keepClaims(database: Database, replays: readonly ClaimedReplay[]): Promise<void> {
  if (replays.length > 0)
    await database.query(
      'UPDATE replays SET due_at = now() + make_interval(secs => $2) WHERE claim = ANY ($1)',
      [replays.map(({ claim }) => claim), CLAIM_SECONDS],
    );
}

/** The result of a turn. A turn is a part of a replay that one process runs without a break. */
export interface Turn {
  after: Position | undefined;
  /** Number of the turn's events that EVENTS does not contain. */
  missing: number;
  /** Time until the next turn. */
  waitMs: number;
}

/** Writes the progress of a replay. @throws LostReplay if the replay has ended, or another replica has claimed it */
export async function endTurn(
  tx: Tx,
  replay: ClaimedReplay,
  { after, missing, waitMs }: Turn,
): Promise<void> {
  const [, written]: [unknown, number] = await tx.query(
    `UPDATE replays SET after_at = coalesce($3, after_at), after_id = coalesce($4, after_id), missing = missing + $5,
       due_at = now() + make_interval(secs => $6), claim = NULL
     WHERE replay_id = $1 AND claim = $2 AND status IN ('queued', 'running')`,
    [replay.replayId, replay.claim, after?.at ?? null, after?.id ?? null, missing, waitMs / 1000],
  );
  if (written === 0) throw new LostReplay(replay.replayId);
}

/** The replay has ended, or another replica has claimed it. The result of this turn was not written. */
export class LostReplay extends Error {
  override readonly name = 'LostReplay';

  constructor(replayId: string) {
    super(`this process has lost its claim on replay ${replayId}`);
  }
}

/**
 * Returns the state of a claimed replay: `lost` if the replay has ended or another replica has claimed it, `purged` if
 * its keyword or watch does not exist any more.
 */
export async function claimStateOf(
  database: Database,
  { replayId, claim }: ClaimedReplay,
): Promise<'claimed' | 'lost' | 'purged'> {
  const rows: { claimed: boolean; exists: boolean }[] = await database.query(
    `SELECT r.claim = $2 AND r.status IN ('queued', 'running') AS claimed,
       CASE WHEN r.keyword_id IS NOT NULL THEN EXISTS (SELECT 1 FROM keywords k WHERE k.keyword_id = r.keyword_id)
         ELSE EXISTS (SELECT 1 FROM watches w WHERE w.watch_id = r.watch_id) END AS "exists"
     FROM replays r WHERE r.replay_id = $1`,
    [replayId, claim],
  );
  if (!rows[0]?.claimed) return 'lost';
  return rows[0].exists ? 'claimed' : 'purged';
}

/**
 * Returns the replay's counts, and the number of its events that wait for another attempt; undefined if the replay does
 * not exist.
 */
export async function countsOf(
  tx: Tx,
  replayId: string,
): Promise<(ReplayCounts & { waiting: number }) | undefined> {
  const rows: (ReplayCounts & { waiting: number })[] = await tx.query(
    `SELECT sent, failed, missing, (SELECT count(*)::int FROM pending_deliveries
       WHERE target_kind <> 'webhook' AND target_kind = 'replay' AND target_id = replay_id) AS waiting
     FROM replays WHERE replay_id = $1`,
    [replayId],
  );
  return rows[0];
}

/** Adds the number of ended deliveries to the counts of their replays. The counts of ended replays do not change. */
export async function countReplays(
  tx: Tx,
  deliveries: readonly DeliveryKey[],
  delivered: boolean,
): Promise<void> {
  const counts = new Map<string, number>();
  for (const { target } of deliveries)
    if (target.kind === 'replay') counts.set(target.id, (counts.get(target.id) ?? 0) + 1);
  const column = delivered ? 'sent' : 'failed';
  for (const [id, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    await tx.query(
      `UPDATE replays SET ${column} = ${column} + $2 WHERE replay_id = $1 AND status IN ('queued', 'running')`,
      [id, count],
    );
}

/** Returns the ids of the replays of a keyword and of its watches. */
export async function replaysOf(tx: Tx, keywordId: string, watchIds: readonly string[]): Promise<string[]> {
  const rows: { replay_id: string }[] = await tx.query(
    'SELECT replay_id FROM replays WHERE keyword_id = $1 OR watch_id = ANY($2)',
    [keywordId, watchIds],
  );
  return rows.map(({ replay_id }) => replay_id);
}

/**
 * Ends replays whose keyword was purged, and removes the addresses to which they send. Their ids, times, counts and
 * event types remain.
 */
export async function purgeReplays(tx: Tx, replayIds: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE replays SET url = NULL, claim = NULL, finished_at = coalesce(finished_at, now()),
       message = CASE WHEN status IN ('queued', 'running') THEN $2 ELSE message END,
       status = CASE WHEN status IN ('queued', 'running') THEN 'cancelled' ELSE status END
     WHERE replay_id = ANY($1)`,
    [replayIds, PURGED],
  );
}
