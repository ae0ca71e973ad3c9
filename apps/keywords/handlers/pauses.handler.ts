import { create, fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller } from '@nestjs/common';
import {
  CheckCostSchema,
  DoneSchema,
  type CheckCost,
  type PauseKeyword,
  type ResumeKeyword,
} from '#contracts';
import { balanceOf } from '#credits';
import { derivedId, Refusal, systemClock } from '#kernel';
import { COMMANDS, done, type Outcome } from '#messaging';
import type { Tx } from '#postgres';
import { causeOf, continueTrace } from '#telemetry';
import { CommandPattern, ConsumerPattern } from '#transport';
import type { KeywordCommand } from '../domain/keyword-command.js';
import type { KeywordAlive, KeywordState } from '../domain/keyword-state.js';
import type { PauseReason } from '../domain/pauses.js';
import { isScheduled } from '../domain/schedule.js';
import { Admission } from '../planning/admission.js';
import { planUseOf, requireRoom } from '../planning/plan-limits.js';
import { KeywordDecisions } from './keyword-decisions.js';

/** Does not decode items: only the cost of a check and the reason of its failure are needed. */
const READ = { readUnknownFields: false };

/** Pauses keywords on request of users and after checks that could not be paid, and resumes keywords on request. */
@Controller()
export class PausesHandler {
  constructor(
    private readonly decisions: KeywordDecisions,
    private readonly admission: Admission,
  ) {}

  /** Pauses the keywords and watches whose checks could not be paid. */
  @ConsumerPattern({ stream: 'CHECKS', name: 'keywords-shortages', batchSize: 500 })
  async pauseAllUnpaid(batch: readonly JsMsg[]): Promise<Outcome[]> {
    for (const message of batch) {
      const cost = fromBinary(CheckCostSchema, message.data, READ);
      await continueTrace(causeOf(message), () => this.pauseUnpaid(cost));
    }
    return batch.map(() => done);
  }

  @CommandPattern(COMMANDS.pauseKeyword)
  async pause(command: PauseKeyword) {
    const { accountId, keywordId } = command;
    await this.decisions.requireOwn('keyword', accountId, keywordId);
    await this.decisions.run(command, keywordId, async (tx) => ({
      kind: 'pause',
      reason: 'user',
      creditsRemaining: await remainingOf(tx, accountId),
      creditsNeeded: 0,
    }));
    return create(DoneSchema);
  }

  /**
   * Removes every reason of a pause that a user can remove. Also removes the reason `schedule` if the schedule contains
   * the current time and `pauses.loop.ts` has not removed this reason yet.
   * @throws Refusal `not-covered` if the credits are not sufficient, or the plan does not allow so many terms, keywords
   *   or searches; `invalid` if an interval is shorter than the plan allows; `conflict` if the keyword is retired or is
   *   paused only because it is outside its schedule; `not-found` if the account has no such keyword
   */
  @CommandPattern(COMMANDS.resumeKeyword)
  async resume(command: ResumeKeyword) {
    const { accountId, keywordId } = command;
    await this.decisions.requireOwn('keyword', accountId, keywordId);
    await this.decisions.run(command, keywordId, async (tx, state) => {
      const creditsRemaining = await remainingOf(tx, accountId);
      const removed: PauseReason[] = ['user', 'plan', 'insufficient_credits'];
      if (state.status === 'keyword') {
        const { reasons, creditsNeeded } = state.pauses;
        if (reasons.includes('plan')) await this.requirePlan(tx, accountId, keywordId, state);
        if (reasons.includes('insufficient_credits') && creditsNeeded > creditsRemaining)
          throw Refusal.insufficientCredits(creditsNeeded, creditsRemaining);
        if (isScheduled(state.definition.schedule, systemClock.now().getTime())) removed.push('schedule');
        else if (reasons.length === 1 && reasons[0] === 'schedule')
          throw Refusal.conflict('the keyword is outside its schedule; change the schedule to let it run');
      }
      return { kind: 'resume', reasons: removed, creditsRemaining };
    });
    return create(DoneSchema);
  }

  private async requirePlan(
    tx: Tx,
    accountId: string,
    keywordId: string,
    state: KeywordAlive,
  ): Promise<void> {
    const use = await planUseOf(tx, accountId, keywordId);
    this.admission.requireFit(use.plan, state.definition);
    const searchSlots = state.watches.filter(({ disabled }) => !disabled).length;
    requireRoom(use, { keywords: 1, searchSlots });
  }

  private async pauseUnpaid({ failure, checkId, accountId, keywordId, watchId }: CheckCost): Promise<void> {
    if (failure?.kind !== 'insufficient_credits') return;
    const { creditsNeeded } = failure;
    const commandId = derivedId('pause', checkId);
    await this.decisions.run({ commandId, accountId }, keywordId || watchId, async (tx, state) => {
      const balance = await balanceOf(tx, accountId);
      // The keyword is not paused if enough credits have arrived after the check, if the balance is unknown, or if the
      // keyword no longer exists.
      return isAlive(state) && balance && balance.remaining < creditsNeeded
        ? pauseForCredits(balance.remaining, creditsNeeded)
        : undefined;
    });
  }
}

/** Returns the account's remaining credits; 0 if the account has no ledger yet. */
export async function remainingOf(tx: Tx, accountId: string): Promise<number> {
  return (await balanceOf(tx, accountId))?.remaining ?? 0;
}

/** Returns whether the subject exists and is not retired. */
export function isAlive(state: KeywordState): state is Extract<KeywordState, { pauses: unknown }> {
  return state.status === 'keyword' || state.status === 'watch';
}

function pauseForCredits(creditsRemaining: number, creditsNeeded: number): KeywordCommand {
  return { kind: 'pause', reason: 'insufficient_credits', creditsRemaining, creditsNeeded };
}
