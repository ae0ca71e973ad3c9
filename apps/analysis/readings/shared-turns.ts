import type { Learned, SharedTurns } from '#llm';
import { newId } from '#kernel';
import type { Database } from '#postgres';

/** When to look again while other replicas send as many requests as may be sent at the same time. */
const BUSY_MS = 200;
/** A turn that its replica does not renew ends: the replica has died. */
const LEASE_SECONDS = 10;

/** The lane of the language model in Postgres, which all replicas share. All times are those of the database's clock. */
export class SharedLlmTurns implements SharedTurns {
  /** The turns of this process. */
  private readonly own = new Set<string>();
  private renewal: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  async begin(mostAtOnce: (failures: number) => number, requestsPerMinute: number, burst: number) {
    return this.database.transaction(async (tx) => {
      const rows: { failures: number; blocked_ms: number; tokens: number }[] = await tx.query(
        `SELECT failures, extract(epoch FROM blocked_until - clock_timestamp())::float8 * 1000 AS blocked_ms,
           least($1::float8, tokens + extract(epoch FROM clock_timestamp() - refilled_at)::float8 * $2::float8 / 60) AS tokens
         FROM llm_lane FOR UPDATE`,
        [burst, requestsPerMinute],
      );
      const { failures, blocked_ms: blockedMs, tokens } = rows[0]!;
      if (blockedMs > 0) return { failures, waitMs: Math.ceil(blockedMs), isBlocked: true };
      // In a separate statement after the lock, so that it sees the turns that others have taken meanwhile.
      await tx.query('DELETE FROM llm_turns WHERE ends_at <= clock_timestamp()');
      const [busy]: { n: number }[] = await tx.query('SELECT count(*)::int AS n FROM llm_turns');
      if ((busy?.n ?? 0) >= mostAtOnce(failures)) return { failures, waitMs: BUSY_MS, isBlocked: false };
      const waitMs = Math.ceil(((1 - tokens) * 60_000) / requestsPerMinute);
      if (waitMs > 0) return { failures, waitMs, isBlocked: false };
      const turn = newId();
      await tx.query(
        `INSERT INTO llm_turns (turn, ends_at) VALUES ($1, clock_timestamp() + make_interval(secs => $2))`,
        [turn, LEASE_SECONDS],
      );
      await tx.query('UPDATE llm_lane SET tokens = $1, refilled_at = clock_timestamp()', [tokens - 1]);
      this.keep(turn);
      return { failures, turn };
    });
  }

  async end(turn: string, learn: ((failures: number) => Learned) | undefined): Promise<Learned | undefined> {
    this.forget(turn);
    return this.database.transaction(async (tx) => {
      // Always the lane first, so that transactions cannot deadlock.
      const rows: { failures: number }[] = await tx.query('SELECT failures FROM llm_lane FOR UPDATE');
      await tx.query('DELETE FROM llm_turns WHERE turn = $1', [turn]);
      const before = rows[0]!.failures;
      const learned = learn?.(before);
      if (learned && (learned.failures !== before || learned.blockedForMs > 0))
        await tx.query(
          `UPDATE llm_lane SET failures = $1,
             blocked_until = greatest(blocked_until, clock_timestamp() + make_interval(secs => $2))`,
          [learned.failures, learned.blockedForMs / 1000],
        );
      return learned;
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
