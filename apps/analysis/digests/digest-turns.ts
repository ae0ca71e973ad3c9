import { DIGEST_MODES, type DigestMode } from '#contracts';
import type { Database, Tx } from '#postgres';
import { nextDue } from '../domain/digest-times.js';
import type { DigestTurn } from '../domain/digest-turn.js';

/** A replica that has not finished a digest within this time counts as dead. */
const CLAIM_SECONDS = 120;

/** A turn that a replica has claimed, with the name of its keyword. */
export interface ClaimedTurn extends DigestTurn {
  keywordName: string;
}

interface Row {
  keyword_id: string;
  channel_id: string;
  mode: DigestMode;
  account_id: string;
  timezone: string;
  period_from: Date;
  after_seq: number;
  digest_seq: number;
  due_at: Date;
  last_seq: number | null;
  name: string;
}

const IS_TURN = 't.keyword_id = n.keyword_id AND t.channel_id = n.channel_id AND t.mode = n.mode';
/**
 * Begins an update of the turns in $1: locks their rows in the same order as `sync`, so that two updates cannot deadlock.
 * The condition makes Postgres run this part before the update.
 */
const LOCKED = `WITH locked AS MATERIALIZED (
  SELECT 1 FROM digest_turns WHERE (keyword_id, channel_id, mode) IN (
    SELECT keyword_id, channel_id, mode FROM jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text))
  ORDER BY keyword_id, channel_id, mode FOR UPDATE)`;
const IS_LOCKED = '(SELECT count(*) FROM locked) > 0';

/**
 * Creates and deletes turns, so that they agree with the channels of the keywords. The first digest of a new channel
 * contains only items that are found from now on. If the mode of a channel changes, the first digest of the new mode
 * also contains the items that wait for the old mode. If the mode changes to `instant`, these items are sent in one last
 * digest, when the old mode is due. A removed channel gets no more digests. Retired and purged keywords have no turns.
 * If a turn that must be deleted is claimed, its channel does not change until a later call (`keywordsToSync`).
 * @param lastSeq the last sequence of EVENTS
 */
export async function syncWithChannels(
  database: Database,
  keywordIds: readonly string[],
  lastSeq: number,
  now: number,
): Promise<void> {
  await database.transaction(async (tx) => {
    // Without the lock, another replica could read the channels before a change, and then delete the turns of new
    // channels.
    await tx.query('SELECT 1 FROM keywords WHERE keyword_id = ANY ($1) ORDER BY keyword_id FOR SHARE', [
      keywordIds,
    ]);
    await sync(tx, keywordIds, lastSeq, now);
  });
}

async function sync(tx: Tx, keywordIds: readonly string[], lastSeq: number, now: number): Promise<void> {
  const wanted: {
    keyword_id: string;
    channel_id: string;
    mode: DigestMode;
    account_id: string;
    timezone: string;
  }[] = await tx.query(
    `SELECT DISTINCT k.keyword_id, c->>'channelId' AS channel_id, c->>'mode' AS mode, k.account_id, a.timezone
       FROM keywords k JOIN accounts a USING (account_id)
       CROSS JOIN LATERAL jsonb_array_elements(COALESCE(k.definition->'channels', '[]')) AS c
       WHERE k.keyword_id = ANY ($1) AND k.state <> 'retired' AND c->>'mode' = ANY ($2)`,
    [keywordIds, DIGEST_MODES],
  );
  const unwanted: (Pick<Row, 'keyword_id' | 'channel_id' | 'mode' | 'period_from' | 'after_seq'> & {
    is_claimed: boolean;
    /** True if its channel is `instant` now, and its last digest was not assembled. */
    has_last: boolean;
  })[] = await tx.query(
    `SELECT keyword_id, channel_id, mode, period_from, after_seq, claimed_until <> '-infinity' AS is_claimed,
       (last_seq IS NULL OR after_seq < last_seq) AND EXISTS (
         SELECT 1 FROM keywords k CROSS JOIN LATERAL jsonb_array_elements(COALESCE(k.definition->'channels', '[]')) AS c
         WHERE k.keyword_id = t.keyword_id AND k.state <> 'retired' AND c->>'channelId' = t.channel_id::text
           AND c->>'mode' = 'instant') AS has_last
     FROM digest_turns t WHERE keyword_id = ANY ($1) AND NOT EXISTS (
       SELECT 1 FROM jsonb_to_recordset($2) AS n (keyword_id uuid, channel_id uuid, mode text) WHERE ${IS_TURN})
     ORDER BY keyword_id, channel_id, mode FOR UPDATE`,
    [keywordIds, JSON.stringify(wanted)],
  );
  // The digest of a claimed turn can be stored already, also if the replica has crashed since then. If the mode changed
  // now, the new mode would repeat the items of this digest. So the change waits until the claim has a result.
  const waiting = new Set(unwanted.filter((one) => one.is_claimed).map(channelOf));
  const unclaimed = unwanted.filter((one) => !waiting.has(channelOf(one)));
  const digested = new Set(wanted.map(channelOf));
  const isLast = (one: (typeof unwanted)[number]) => one.has_last && !digested.has(channelOf(one));
  await tx.query(
    `UPDATE digest_turns t SET last_seq = coalesce(t.last_seq, $2)
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text) WHERE ${IS_TURN}`,
    [JSON.stringify(unclaimed.filter(isLast)), lastSeq],
  );
  const removed = unclaimed.filter((one) => !isLast(one));
  await tx.query(
    `DELETE FROM digest_turns t
     USING jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text) WHERE ${IS_TURN}`,
    [JSON.stringify(removed)],
  );
  // If a channel loses several modes, the turn with the lowest sequence is used, so that no waiting item is lost.
  const replaced = new Map(
    removed.sort((a, b) => b.after_seq - a.after_seq).map((one) => [channelOf(one), one]),
  );
  const turns = wanted
    .filter((one) => !waiting.has(channelOf(one)))
    .map((one) => ({
      ...one,
      period_from: replaced.get(channelOf(one))?.period_from ?? new Date(now),
      after_seq: replaced.get(channelOf(one))?.after_seq ?? lastSeq,
      due_at: new Date(nextDue(one.mode, one.timezone, now)),
    }));
  await tx.query(
    `INSERT INTO digest_turns (keyword_id, channel_id, mode, account_id, timezone, period_from, after_seq, due_at)
     SELECT n.keyword_id, n.channel_id, n.mode, n.account_id, n.timezone, n.period_from, n.after_seq, n.due_at
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text, account_id uuid, timezone text,
       period_from timestamptz, after_seq bigint, due_at timestamptz)
     ON CONFLICT (keyword_id, channel_id, mode) DO UPDATE SET last_seq = NULL WHERE digest_turns.last_seq IS NOT NULL`,
    [JSON.stringify(turns)],
  );
}

function channelOf({ keyword_id: keywordId, channel_id: channelId }: Pick<Row, 'keyword_id' | 'channel_id'>) {
  return `${keywordId} ${channelId}`;
}

/** The condition that keyword `k` still sends the digests, or the last digest, of a turn `t`. */
const IS_WANTED = `k.keyword_id = t.keyword_id AND k.state <> 'retired' AND EXISTS (
  SELECT 1 FROM jsonb_array_elements(COALESCE(k.definition->'channels', '[]')) AS c
  WHERE (c->>'channelId')::uuid = t.channel_id AND (c->>'mode' = t.mode
    OR (t.last_seq IS NOT NULL AND c->>'mode' = 'instant')))`;

/** Returns the turns whose keyword still sends digests to the channel in the mode of the turn. */
export async function stillWanted<T extends DigestTurn>(
  database: Database,
  turns: readonly T[],
): Promise<ReadonlySet<T>> {
  const rows: { n: number }[] = await database.query(
    `SELECT t.n::int FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[])
       WITH ORDINALITY AS t (keyword_id, channel_id, mode, last_seq, n) JOIN keywords k ON ${IS_WANTED}`,
    [
      turns.map(({ keywordId }) => keywordId),
      turns.map(({ channelId }) => channelId),
      turns.map(({ mode }) => mode),
      turns.map(({ lastSeq }) => lastSeq ?? null),
    ],
  );
  return new Set(rows.map(({ n }) => turns[n - 1]!));
}

/**
 * Returns the keywords whose changes had to wait for the result of a claim, and can now be made by `syncWithChannels`.
 * Also returns the keywords of turns whose last digest was assembled.
 * @param among only these keywords; without it, all keywords
 */
export async function keywordsToSync(database: Database, among?: readonly string[]): Promise<string[]> {
  const rows: Pick<Row, 'keyword_id'>[] = await database.query(
    `SELECT DISTINCT keyword_id FROM digest_turns t
     WHERE claimed_until = '-infinity' AND ($1::uuid[] IS NULL OR keyword_id = ANY ($1))
       AND (t.after_seq >= t.last_seq OR NOT EXISTS (SELECT 1 FROM keywords k WHERE ${IS_WANTED}))`,
    [among ?? null],
  );
  return rows.map((row) => row.keyword_id);
}

/**
 * Computes the due times of digests again for accounts that have changed their time zone. Digests that are already due
 * keep their time.
 */
export async function updateTimeZones(database: Database, now: number): Promise<void> {
  const rows: (Pick<Row, 'keyword_id' | 'channel_id' | 'mode' | 'timezone'> & { period_from: Date })[] =
    await database.query(
      `SELECT t.keyword_id, t.channel_id, t.mode, t.period_from, a.timezone
       FROM digest_turns t JOIN accounts a USING (account_id) WHERE t.timezone <> a.timezone AND t.due_at > $1`,
      [new Date(now)],
    );
  if (rows.length === 0) return;
  await database.query(
    `${LOCKED} UPDATE digest_turns t SET timezone = n.timezone, due_at = n.due_at
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text, timezone text, due_at timestamptz)
     WHERE ${IS_LOCKED} AND ${IS_TURN}`,
    [JSON.stringify(rows.map((row) => ({ ...row, due_at: new Date(nextDue(row.mode, row.timezone, now)) })))],
  );
}

/** Claims due turns of these modes. The turns that have been due for the longest time come first. */
export async function claimDueTurns(
  database: Database,
  modes: readonly DigestMode[],
  limit: number,
  now: number,
): Promise<ClaimedTurn[]> {
  const [rows]: [Row[]] = await database.query(
    `WITH due AS MATERIALIZED (
       SELECT keyword_id, channel_id, mode FROM digest_turns WHERE due_at <= $1 AND claimed_until <= $1 AND mode = ANY ($3)
       ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     UPDATE digest_turns t SET claimed_until = $1::timestamptz + make_interval(secs => ${CLAIM_SECONDS})
     FROM due n JOIN keywords k USING (keyword_id) WHERE ${IS_TURN}
     RETURNING t.*, k.name`,
    [new Date(now), limit, modes],
  );
  return rows
    .map((row) => ({
      keywordId: row.keyword_id,
      channelId: row.channel_id,
      mode: row.mode,
      accountId: row.account_id,
      timeZone: row.timezone,
      periodFrom: row.period_from.getTime(),
      afterSeq: row.after_seq,
      digestSeq: row.digest_seq,
      dueAt: row.due_at.getTime(),
      lastSeq: row.last_seq ?? undefined,
      keywordName: row.name,
    }))
    .sort((a, b) => a.dueAt - b.dueAt);
}

/**
 * Ends the claims of turns that were not assembled: they can be claimed again. `claimed_until` is not reset, because an
 * earlier claim can have stored a digest before a crash (see `sync`).
 */
export async function postponeTurns(
  database: Database,
  turns: readonly DigestTurn[],
  now: number,
): Promise<void> {
  if (turns.length === 0) return;
  await database.query(
    `${LOCKED} UPDATE digest_turns t SET claimed_until = $2
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text)
     WHERE ${IS_LOCKED} AND ${IS_TURN}`,
    [
      JSON.stringify(
        turns.map(({ keywordId, channelId, mode }) => ({
          keyword_id: keywordId,
          channel_id: channelId,
          mode,
        })),
      ),
      new Date(now),
    ],
  );
}

/** Stores turns and ends their claims. */
export async function saveTurns(database: Database, turns: readonly DigestTurn[]): Promise<void> {
  if (turns.length === 0) return;
  await database.query(
    `${LOCKED} UPDATE digest_turns t SET timezone = n.timezone, period_from = n.period_from, after_seq = n.after_seq, digest_seq = n.digest_seq,
       due_at = n.due_at, claimed_until = '-infinity'
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, channel_id uuid, mode text, timezone text, period_from timestamptz,
       after_seq bigint, digest_seq bigint, due_at timestamptz)
     WHERE ${IS_LOCKED} AND ${IS_TURN}`,
    [
      JSON.stringify(
        turns.map((turn) => ({
          keyword_id: turn.keywordId,
          channel_id: turn.channelId,
          mode: turn.mode,
          timezone: turn.timeZone,
          period_from: new Date(turn.periodFrom),
          after_seq: turn.afterSeq,
          digest_seq: turn.digestSeq,
          due_at: new Date(turn.dueAt),
        })),
      ),
    ],
  );
}
