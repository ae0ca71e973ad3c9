import { Inject, Injectable } from '@nestjs/common';
import { newId, Repeated, systemClock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { isScheduled, nextScheduleChange } from './domain/schedule.js';
import { KeywordDecisions } from './handlers/keyword-decisions.js';
import { isAlive, remainingOf } from './handlers/pauses.handler.js';

const ROUND_PAUSE_MS = 1000;
/** Maximum number of keywords and watches in one step of a round; the others follow in the next round. */
const KEYWORDS_PER_ROUND = 200;

interface Paused {
  id: string;
  account_id: string;
}

/** Starts and ends pauses that depend on schedules, and ends pauses of accounts that have credits again. */
@Injectable()
export class PausesLoop implements Loop {
  readonly name = 'pauses';
  private readonly rounds = new Repeated({
    pauseMs: ROUND_PAUSE_MS,
    run: async () => {
      await this.step(() => this.applyScheduleChanges());
      await this.step(() => this.resumeForCredits());
    },
    failed: (error) => this.failed(error),
  });

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly decisions: KeywordDecisions,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.rounds.start();
  }

  stop(): Promise<void> {
    return this.rounds.stop();
  }

  /** Runs one step. A failed step is repeated in the next round, and does not stop the other steps of this round. */
  private async step(work: () => Promise<void>, what: object = {}): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failed(error, what);
    }
  }

  private failed(error: unknown, what: object = {}): void {
    this.log.error(
      { err: error, ...what },
      'schedules of keywords, or credits of paused keywords, could not be checked',
    );
  }

  private async applyScheduleChanges(): Promise<void> {
    const due: Paused[] = await this.database.query(
      `SELECT keyword_id AS id, account_id FROM keywords
       WHERE schedule_turns_at <= $1 ORDER BY schedule_turns_at LIMIT ${KEYWORDS_PER_ROUND}`,
      [systemClock.now()],
    );
    for (const { id, account_id } of due)
      await this.step(() => this.applyScheduleChange(id, account_id), { keywordId: id });
  }

  private async applyScheduleChange(id: string, accountId: string): Promise<void> {
    await this.decisions.run({ accountId, commandId: newId() }, id, async (tx, keyword) => {
      const now = systemClock.now().getTime();
      const schedule = keyword.status === 'keyword' ? keyword.definition.schedule : undefined;
      const next = nextScheduleChange(schedule, now);
      // The row is updated here, because without a change of state there is no decision that would update the row.
      await tx.query('UPDATE keywords SET schedule_turns_at = $2 WHERE keyword_id = $1', [
        id,
        next === undefined ? null : new Date(next),
      ]);
      if (keyword.status !== 'keyword') return undefined;
      const creditsRemaining = await remainingOf(tx, accountId);
      return isScheduled(schedule, now)
        ? { kind: 'resume', reasons: ['schedule'], creditsRemaining }
        : { kind: 'pause', reason: 'schedule', creditsRemaining, creditsNeeded: 0 };
    });
  }

  /**
   * Resumes keywords and lone watches while the account's free credits are sufficient, the oldest first. A keyword that
   * cannot pay would immediately be paused again, so it is not resumed. The first keyword of every account comes before
   * the second keyword of any account, so that an account with many keywords does not delay other accounts.
   */
  private async resumeForCredits(): Promise<void> {
    const withoutCredits: (Paused & { needed: number; free: number })[] = await this.database.query(
      `SELECT r.id, r.account_id, r.needed, f.free FROM (
         SELECT keyword_id AS id, account_id, credits_needed AS needed, created_at FROM keywords
         WHERE 'insufficient_credits' = ANY (pauses)
         UNION ALL
         SELECT watch_id, account_id, credits_needed, created_at FROM watches
         WHERE 'insufficient_credits' = ANY (pauses) AND retired_at IS NULL
       ) AS r
       JOIN credit_balances b ON b.account_id = r.account_id AND b.balance >= r.needed
       CROSS JOIN LATERAL (SELECT b.balance - COALESCE(sum(c.amount), 0)::bigint AS free FROM credit_reservations c
         WHERE c.account_id = r.account_id AND c.expires_at > now()) AS f
       WHERE f.free >= r.needed
       ORDER BY row_number() OVER (PARTITION BY r.account_id ORDER BY r.created_at, r.id), r.created_at, r.id
       LIMIT ${KEYWORDS_PER_ROUND}`,
    );
    const remaining = new Map(withoutCredits.map((one) => [one.account_id, one.free]));
    for (const { id, account_id, needed } of withoutCredits) {
      const free = remaining.get(account_id) ?? 0;
      if (free < needed) continue;
      remaining.set(account_id, free - needed);
      await this.step(() => this.resume(id, account_id), { id });
    }
  }

  private async resume(id: string, accountId: string): Promise<void> {
    await this.decisions.run({ accountId, commandId: newId() }, id, async (tx, state) => {
      const creditsRemaining = await remainingOf(tx, accountId);
      if (!isAlive(state) || creditsRemaining < state.pauses.creditsNeeded) return undefined;
      return { kind: 'resume', reasons: ['insufficient_credits'], creditsRemaining };
    });
  }
}
