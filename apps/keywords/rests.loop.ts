import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { derivedId, newId, systemClock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { isScheduled, nextTurn } from './domain/schedule.js';
import { KeywordDecisions } from './handlers/keyword-decisions.js';
import { isAlive, remainingOf } from './handlers/pauses.handler.js';

const LOOK_MS = 1000;
/** Looked after in one round: the others come in the next. */
const AT_ONCE = 200;

interface Resting {
  id: string;
  account_id: string;
}

/** Begins and ends rests that time or credits decide: schedules that turn, and accounts that have credits again. */
@Injectable()
export class RestsLoop implements Loop {
  readonly name = 'rests';
  private readonly abort = new AbortController();
  private finished: Promise<void> = Promise.resolve();

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly decisions: KeywordDecisions,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.finished = this.work();
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await this.finished;
  }

  private async work(): Promise<void> {
    while (!this.abort.signal.aborted) {
      await this.round(() => this.turnSchedules());
      await this.round(() => this.resumeForCredits());
      await wait(LOOK_MS, undefined, { signal: this.abort.signal }).catch(() => {});
    }
  }

  /** What fails is tried again in the next round, and holds up nothing else in this one. */
  private async round(work: () => Promise<void>, what: object = {}): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.error({ err: error, ...what }, 'rests could not be looked after');
    }
  }

  private async turnSchedules(): Promise<void> {
    const due: (Resting & { turns_at: Date })[] = await this.database.query(
      `SELECT keyword_id AS id, account_id, schedule_turns_at AS turns_at FROM keywords
       WHERE schedule_turns_at <= $1 ORDER BY schedule_turns_at LIMIT ${AT_ONCE}`,
      [systemClock.now()],
    );
    for (const { id, account_id, turns_at } of due)
      await this.round(() => this.turnSchedule(id, account_id, turns_at), { keywordId: id });
  }

  private async turnSchedule(id: string, accountId: string, turnsAt: Date): Promise<void> {
    const now = systemClock.now().getTime();
    const commandId = derivedId('schedule', id, turnsAt.toISOString());
    const state = await this.decisions.run({ accountId, commandId }, id, async (tx, keyword) => {
      if (keyword.status !== 'keyword') return undefined;
      const creditsRemaining = await remainingOf(tx, accountId);
      return isScheduled(keyword.definition.schedule, now)
        ? { kind: 'resume', reasons: ['schedule'], creditsRemaining }
        : { kind: 'pause', reason: 'schedule', creditsRemaining, creditsNeeded: 0 };
    });
    // Where it was so already (the turn was missed, and the next one too), nothing was decided that would tell the row.
    const next = state.status === 'keyword' ? nextTurn(state.definition.schedule, now) : undefined;
    await this.database.query(
      'UPDATE keywords SET schedule_turns_at = $3 WHERE keyword_id = $1 AND schedule_turns_at = $2',
      [id, turnsAt, next === undefined ? null : new Date(next)],
    );
  }

  /** The oldest first, as far as the account's free credits reach: one that could not pay again would rest at once. */
  private async resumeForCredits(): Promise<void> {
    const broke: (Resting & { needed: number; free: number })[] = await this.database.query(
      `SELECT r.*, b.balance - COALESCE((SELECT sum(h.amount) FROM credit_holds h
         WHERE h.account_id = r.account_id AND h.expires_at > now()), 0)::bigint AS free
       FROM (
         SELECT keyword_id AS id, account_id, credits_needed AS needed, created_at FROM keywords
         WHERE 'insufficient_credits' = ANY (pauses)
         UNION ALL
         SELECT watch_id, account_id, credits_needed, created_at FROM watches
         WHERE 'insufficient_credits' = ANY (pauses)
       ) AS r JOIN credit_balances b USING (account_id)
       WHERE b.balance >= r.needed ORDER BY r.created_at, r.id LIMIT ${AT_ONCE}`,
    );
    const left = new Map(broke.map((one) => [one.account_id, one.free]));
    for (const { id, account_id, needed } of broke) {
      const free = left.get(account_id) ?? 0;
      if (free < needed) continue;
      left.set(account_id, free - needed);
      await this.round(() => this.resume(id, account_id), { id });
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
