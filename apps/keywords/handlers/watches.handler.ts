import { create } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import {
  DoneSchema,
  MadeSchema,
  PRICE_BOOK_VERSION,
  WatchSchema,
  type ChangeWatch,
  type CreateWatch,
  type RetireWatch,
  type SourceId,
} from '#contracts';
import { balanceOf } from '#credits';
import { criteriaHash } from '#criteria';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import type { Tx } from '#postgres';
import { priceOf } from '#quotes';
import { CommandPattern } from '#transport';
import type { DuplicateWatch } from '../domain/keyword-command.js';
import { Admission, requireCredits } from '../planning/admission.js';
import { planUseOf, requireRoom } from '../planning/plan-limits.js';
import { KeywordDecisions } from './keyword-decisions.js';
import { remainingOf } from './pauses.handler.js';

/** Executes the commands on watches without a keyword. */
@Controller()
export class WatchesHandler {
  constructor(
    private readonly decisions: KeywordDecisions,
    private readonly admission: Admission,
  ) {}

  @CommandPattern(COMMANDS.createWatch)
  async create(command: CreateWatch) {
    if (!command.criteria) throw Refusal.validation([{ path: 'criteria', message: 'is missing' }]);
    const { accountId, commandId, criteria, intervalSeconds, backfill, webhookUrl, ai, analysis } = command;
    const source = command.source as SourceId;
    const priced = { source, criteria, intervalSeconds, backfill, coBrands: false };
    const { creditsPerCheck, firstScanCredits } = priceOf(priced, this.admission.partsOf(source));
    const hash = criteriaHash(source, criteria);
    const watch = create(WatchSchema, {
      watchId: commandId,
      source,
      criteria,
      criteriaHash: hash,
      intervalSeconds,
      backfill,
      creditsPerCheck,
      firstScanCredits,
      priceBookVersion: PRICE_BOOK_VERSION,
    });
    await this.decisions.runNew(command, commandId, async (tx) => {
      const use = await planUseOf(tx, accountId);
      this.admission.requireWatchFit(use.plan, watch);
      const duplicate = await duplicateOf(tx, accountId, hash, commandId);
      if (!duplicate) {
        requireRoom(use, { keywords: 0, searchSlots: 1 });
        requireCredits(await balanceOf(tx, accountId), [watch]);
      }
      return { kind: 'create-watch', watch, webhookUrl, ai, analysis, duplicate };
    });
    return create(MadeSchema, { id: commandId });
  }

  @CommandPattern(COMMANDS.changeWatch)
  async change(command: ChangeWatch) {
    const { watchId, accountId, intervalSeconds, webhookUrl, isActive } = command;
    await this.requireLone(accountId, watchId);
    await this.decisions.run(command, watchId, async (tx, state) => {
      const creditsRemaining = await remainingOf(tx, accountId);
      const requested = {
        kind: 'change-watch',
        intervalSeconds,
        webhookUrl,
        isActive,
        creditsRemaining,
      } as const;
      if (state.status !== 'watch') return { ...requested, duplicate: undefined };
      const watch = { ...state.watch, intervalSeconds: intervalSeconds ?? state.watch.intervalSeconds };
      const { reasons, creditsNeeded } = state.pauses;
      const fromPlan = isActive && reasons.includes('plan');
      const use = await planUseOf(tx, accountId, watchId);
      if (fromPlan) {
        this.admission.requireWatchFit(use.plan, watch);
        requireRoom(use, { keywords: 0, searchSlots: 1 });
      } else if (watch.intervalSeconds !== state.watch.intervalSeconds) {
        // The terms have not changed. They are checked only before the watch runs again.
        this.admission.requireWatchInterval(use.plan, watch);
      }
      if (isActive && reasons.includes('insufficient_credits') && creditsNeeded > creditsRemaining)
        throw Refusal.insufficientCredits(creditsNeeded, creditsRemaining);
      return { ...requested, duplicate: await duplicateOf(tx, accountId, watch.criteriaHash, watchId) };
    });
    return create(MadeSchema, { id: watchId });
  }

  @CommandPattern(COMMANDS.retireWatch)
  async retire(command: RetireWatch) {
    await this.requireLone(command.accountId, command.watchId);
    await this.decisions.run(command, command.watchId, () => ({ kind: 'retire-watch' }));
    return create(DoneSchema);
  }

  private async requireLone(accountId: string, watchId: string): Promise<void> {
    await this.decisions.requireOwn('watch', accountId, watchId);
    const rows: unknown[] = await this.decisions.database.query(
      'SELECT 1 FROM watches WHERE watch_id = $1 AND keyword_id IS NOT NULL',
      [watchId],
    );
    if (rows.length > 0)
      throw Refusal.conflict(
        'the watch belongs to a keyword and changes with it; change or delete the keyword',
      );
  }
}

/**
 * Finds another watch with the same search; undefined if there is none. A watch is ignored if a user paused it, or if
 * its source is disabled in its keyword. A watch that is paused for another reason is not ignored, because it can resume
 * automatically.
 */
async function duplicateOf(
  tx: Tx,
  accountId: string,
  hash: string,
  exceptWatchId: string,
): Promise<DuplicateWatch | undefined> {
  const rows: { watch_id: string; keyword_id: string | null; name: string | null }[] = await tx.query(
    `SELECT w.watch_id, w.keyword_id, k.name FROM watches w LEFT JOIN keywords k USING (keyword_id)
     WHERE w.account_id = $1 AND w.criteria_hash = $2 AND w.watch_id <> $3 AND w.retired_at IS NULL
       AND NOT w.disabled AND NOT 'user' = ANY (COALESCE(k.pauses, w.pauses))
     ORDER BY w.watch_id LIMIT 1`,
    [accountId, hash, exceptWatchId],
  );
  const duplicate = rows[0];
  if (!duplicate) return undefined;
  const { keyword_id: id, name } = duplicate;
  return { watchId: duplicate.watch_id, keyword: id === null ? undefined : { id, name: name ?? '' } };
}
