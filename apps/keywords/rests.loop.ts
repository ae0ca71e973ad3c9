import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { derivedId, newId, systemClock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { isScheduled } from './domain/schedule.js';
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
      try {
        await this.turnSchedules();
        await this.resumeForCredits();
      } catch (error) {
        this.log.error({ err: error }, 'rests could not be looked after');
      }
      await wait(LOOK_MS, undefined, { signal: this.abort.signal }).catch(() => {});
    }
  }

  private async turnSchedules(): Promise<void> {
    const due: (Resting & { turns_at: Date })[] = await this.database.query(
      `SELECT keyword_id AS id, account_id, schedule_turns_at AS turns_at FROM keywords
       WHERE schedule_turns_at <= $1 ORDER BY schedule_turns_at LIMIT ${AT_ONCE}`,
      [systemClock.now()],
    );
    for (const { id, account_id: accountId, turns_at: turnsAt } of due) {
      const commandId = derivedId('schedule', id, turnsAt.toISOString());
      await this.decisions.run({ accountId, commandId }, id, async (tx, state) => {
        if (state.status !== 'keyword') return undefined;
        const creditsRemaining = await remainingOf(tx, accountId);
        return isScheduled(state.definition.schedule, systemClock.now().getTime())
          ? { kind: 'resume', reasons: ['schedule'], creditsRemaining }
          : { kind: 'pause', reason: 'schedule', creditsRemaining, creditsNeeded: 0 };
      });
    }
  }

  private async resumeForCredits(): Promise<void> {
    const solvent: Resting[] = await this.database.query(
      `SELECT k.keyword_id AS id, k.account_id FROM keywords k JOIN credit_balances b USING (account_id)
       WHERE 'insufficient_credits' = ANY (k.pauses) AND b.balance >= k.credits_needed
       UNION ALL
       SELECT w.watch_id, w.account_id FROM watches w JOIN credit_balances b USING (account_id)
       WHERE 'insufficient_credits' = ANY (w.pauses) AND b.balance >= w.credits_needed
       LIMIT ${AT_ONCE}`,
    );
    for (const { id, account_id: accountId } of solvent)
      await this.decisions.run({ accountId, commandId: newId() }, id, async (tx, state) => {
        const creditsRemaining = await remainingOf(tx, accountId);
        if (!isAlive(state)) return undefined;
        return creditsRemaining >= state.pauses.creditsNeeded
          ? { kind: 'resume', reasons: ['insufficient_credits'], creditsRemaining }
          : undefined;
      });
  }
}
