import { derivedId } from '#kernel';
import type { LlmOptions, ServerState, SharedTurns, TurnLimits } from '#llm';
import type { Database, Tx } from '#postgres';

/**
 * A turn is a request to the model that waits for a slot of the lane, or uses one. If no slot is free, the turn asks
 * again after this time.
 */
const BUSY_MS = 200;
/** A turn that has begun ends after this time if its replica does not renew the turn: the replica counts as dead. */
const LEASE_SECONDS = 10;

/**
 * The next slot is kept for the first turn that has waited this long. Otherwise, a replica with many requests would
 * begin a new request as soon as one ends, and would leave no slot for other replicas.
 */
const LONG_WAIT_MS = 1_000;
/**
 * The next slot is kept for a turn at most this long after the time when the turn should ask again. A turn that has not
 * asked by then no longer waits, or its replica has died.
 */
const NEXT_GRACE_MS = 2_000;

/**
 * The turns of a language model's lane. Each server, model and token has a lane of its own. The turns are stored in
 * Postgres, so that all replicas share the lane. All times are from the database's clock.
 */
export class SharedLlmTurns implements SharedTurns {
  /** The turns of this process. */
  private readonly own = new Set<string>();
  private renewal: NodeJS.Timeout | undefined;

  private readonly lane: string;

  constructor(
    private readonly database: Database,
    { url, model, token }: Pick<LlmOptions, 'url' | 'model' | 'token'>,
  ) {
    // A server can ask for a wait of hours. The wait must end if the operator sets another server, model or token.
    this.lane = derivedId('llm lane', url, model, token);
  }

  async begin(turn: string, waitedMs: number, limits: TurnLimits): ReturnType<SharedTurns['begin']> {
    const begun = await this.database.transaction((tx) => beginIn(tx, this.lane, turn, waitedMs, limits));
    // The renewal begins only after the commit. If the commit fails, or its result is not known, this process renews
    // nothing, and the turn expires.
    if ('hasBegun' in begun) this.keep(turn);
    return begun;
  }

  async failures(): Promise<number> {
    const [row] = await this.database.query<{ failures: number }[]>(
      'SELECT failures FROM llm_lane WHERE lane = $1',
      [this.lane],
    );
    return row?.failures ?? 0;
  }

  async end(
    turn: string,
    nextState: ((failures: number) => ServerState) | undefined,
  ): Promise<ServerState | undefined> {
    this.forget(turn);
    return this.database.transaction(async (tx) => {
      // Always locks the lane first, so that transactions cannot deadlock.
      const rows: { failures: number }[] = await tx.query(
        'SELECT failures FROM llm_lane WHERE lane = $1 FOR UPDATE',
        [this.lane],
      );
      await tx.query('DELETE FROM llm_turns WHERE turn = $1', [turn]);
      const before = rows[0]!.failures;
      const state = nextState?.(before);
      if (state && (state.failures !== before || state.blockedForMs > 0))
        await tx.query(
          `UPDATE llm_lane SET failures = $1,
             blocked_until = greatest(blocked_until, clock_timestamp() + make_interval(secs => $2))
           WHERE lane = $3`,
          [state.failures, state.blockedForMs / 1000, this.lane],
        );
      return state;
    });
  }

  private keep(turn: string): void {
    this.own.add(turn);
    this.renewal ??= setInterval(() => void this.renew().catch(() => {}), (LEASE_SECONDS * 1000) / 3).unref();
  }

  private forget(turn: string): void {
    this.own.delete(turn);
    if (this.own.size > 0) return;
    clearInterval(this.renewal);
    this.renewal = undefined;
  }

  private async renew(): Promise<void> {
    await this.database.query(
      'UPDATE llm_turns SET ends_at = clock_timestamp() + make_interval(secs => $2) WHERE turn = ANY($1)',
      [[...this.own], LEASE_SECONDS],
    );
  }
}

interface LaneRow {
  failures: number;
  blocked_ms: number;
  tokens: number;
  is_behind: boolean | null;
}

async function beginIn(
  tx: Tx,
  lane: string,
  turn: string,
  waitedMs: number,
  { maxConcurrent, requestsPerMinute, burst }: TurnLimits,
): ReturnType<SharedTurns['begin']> {
  await tx.query(
    'INSERT INTO llm_lane (lane) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM llm_lane WHERE lane = $1) ON CONFLICT DO NOTHING',
    [lane],
  );
  // No tokens are taken away if the clock was set back.
  const rows: LaneRow[] = await tx.query(
    `SELECT failures, extract(epoch FROM blocked_until - clock_timestamp())::float8 * 1000 AS blocked_ms,
       least($1::float8, tokens + greatest(0, extract(epoch FROM clock_timestamp() - refilled_at)::float8) * $2::float8 / 60) AS tokens,
       next_turn <> $3 AND next_until > clock_timestamp() AS is_behind
     FROM llm_lane WHERE lane = $4 FOR UPDATE`,
    [burst, requestsPerMinute, turn, lane],
  );
  const { failures, blocked_ms: blockedMs, tokens, is_behind: isBehind } = rows[0]!;
  if (blockedMs > 0) return { failures, waitMs: Math.ceil(blockedMs), isBlocked: true };
  // A separate statement reads the turns after the lock, so it sees the turns that other replicas have taken meanwhile.
  await tx.query('DELETE FROM llm_turns WHERE ends_at <= clock_timestamp()');
  const [busy]: { n: number }[] = await tx.query('SELECT count(*)::int AS n FROM llm_turns');
  const kept = isBehind ? 1 : 0;
  const isBusy = busy!.n + kept >= maxConcurrent(failures);
  const waitMs = isBusy ? BUSY_MS : Math.ceil(((1 + kept - tokens) * 60_000) / requestsPerMinute);
  if (waitMs > 0) {
    if (waitedMs >= LONG_WAIT_MS && !isBehind)
      await tx.query(
        'UPDATE llm_lane SET next_turn = $1, next_until = clock_timestamp() + make_interval(secs => $2) WHERE lane = $3',
        [turn, (waitMs + NEXT_GRACE_MS) / 1000, lane],
      );
    return { failures, waitMs, isBlocked: false };
  }
  await tx.query(
    `INSERT INTO llm_turns (turn, ends_at) VALUES ($1, clock_timestamp() + make_interval(secs => $2))`,
    [turn, LEASE_SECONDS],
  );
  await tx.query(
    'UPDATE llm_lane SET tokens = $1, refilled_at = clock_timestamp(), next_turn = NULLIF(next_turn, $2) WHERE lane = $3',
    [tokens - 1, turn, lane],
  );
  return { failures, hasBegun: true };
}
