import { clone, create, toBinary } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import {
  ChangedSchema,
  DoneSchema,
  EstimatedSchema,
  KeywordDefinitionSchema,
  MadeSchema,
  PurgeSchema,
  SearchResetSchema,
  type ChangeKeyword,
  type CreateKeyword,
  type EstimateKeyword,
  type KeywordDefinition,
  type RetireKeyword,
  type RotateFeed,
  type SearchReset,
  type Watch,
} from '#contracts';
import type { EventStore } from '#event-store';
import { isoOf, Refusal, systemClock, type Fault } from '#kernel';
import { COMMANDS, subjectOf } from '#messaging';
import { STORE } from '#platform';
import { together, type Tx } from '#postgres';
import { CommandPattern } from '#transport';
import { RETIRED, type KeywordState } from '../domain/keyword-state.js';
import { reconcile } from '../domain/reconcile.js';
import { isScheduled } from '../domain/schedule.js';
import { Admission, startCreditsOf, type Admitted } from '../planning/admission.js';
import { plannedSearches, withIds } from '../planning/planned-searches.js';
import { KeywordWarnings } from '../planning/keyword-warnings.js';
import { KeywordDecisions } from './keyword-decisions.js';
import { markPurged } from './purge.handler.js';

/** The result of a decision that was made for an estimate, and is not stored. */
interface TrialResult {
  admitted: Admitted;
  /** The watches that would begin to run. */
  starting: readonly Watch[];
}

/** Executes the commands that estimate, create, change and end keywords, and that replace the addresses of their feeds. */
@Controller()
export class KeywordsHandler {
  constructor(
    private readonly decisions: KeywordDecisions,
    private readonly admission: Admission,
    private readonly warnings: KeywordWarnings,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /** Makes the same decision as `create`, or as `change` if the keyword exists, without storing the result. */
  @CommandPattern(COMMANDS.estimateKeyword)
  async estimate({ accountId, keywordId, definition: given }: EstimateKeyword) {
    const definition = required(given);
    const { admitted, starting } =
      keywordId === ''
        ? await this.tryCreation(accountId, definition)
        : await this.tryChange(accountId, keywordId, definition);
    const searches = plannedSearches(definition);
    const estimate = {
      ...this.admission.estimateOf({ ...admitted, searches }, definition),
      startCredits: startCreditsOf(starting),
    };
    const { manager } = this.decisions.database;
    const warnings = await this.warnings.of(manager, accountId, definition, keywordId || undefined);
    return create(EstimatedSchema, { estimateJson: JSON.stringify(estimate), warnings });
  }

  private async tryCreation(accountId: string, definition: KeywordDefinition): Promise<TrialResult> {
    // The definition is checked with ids, because the ids count towards the stored size. The estimate does not return
    // them.
    const named = withIds(clone(KeywordDefinitionSchema, definition));
    const { manager } = this.decisions.database;
    const { command, admitted } = await this.commandToCreate(manager, accountId, named, 'all');
    this.decisions.tryNew(accountId, command);
    return { admitted, starting: command.watches };
  }

  private async tryChange(
    accountId: string,
    keywordId: string,
    definition: KeywordDefinition,
  ): Promise<TrialResult> {
    await this.decisions.requireOwn('keyword', accountId, keywordId);
    let result: TrialResult | undefined;
    await this.decisions.tryOn(accountId, keywordId, async (tx, state) => {
      const requested = { accountId, keywordId, definition: clone(KeywordDefinitionSchema, definition) };
      const { command, admitted } = await this.commandToChange(tx, state, requested, 'all');
      result = { admitted, starting: startingOf(command.searches.watches, state) };
      return command;
    });
    if (!result) throw Refusal.notFound('keyword');
    return result;
  }

  /**
   * Creates a keyword. The command's id becomes the keyword's id, so that a repeated command finds the keyword that it
   * created.
   */
  @CommandPattern(COMMANDS.createKeyword)
  async create(command: CreateKeyword) {
    const definition = withIds(required(command.definition));
    const { accountId, commandId } = command;
    const refuseOrWarn = async (tx: Tx) => {
      const [, found] = await together([
        this.refusePurged(tx, command),
        this.warnings.of(tx, accountId, definition, commandId),
      ]);
      return found;
    };
    let warnings: Fault[] | undefined;
    await this.decisions.runNew(command, commandId, async (tx) => {
      const [found, { command: decided }] = await together([
        refuseOrWarn(tx),
        this.commandToCreate(tx, accountId, definition),
      ]);
      warnings = found;
      return decided;
    });
    // If the command is a repetition, nothing is decided again.
    warnings ??= await refuseOrWarn(this.decisions.database.manager);
    return create(MadeSchema, { id: commandId, warnings });
  }

  /**
   * Refuses to create a purged keyword again. The purge has deleted the keyword's decision and rows, so a repeated
   * create would not find them.
   * @throws Refusal `conflict`
   */
  private async refusePurged(tx: Tx, { accountId, commandId: keywordId }: CreateKeyword): Promise<void> {
    const rows: unknown[] = await tx.query(
      'SELECT 1 FROM purged_keywords WHERE keyword_id = $1 AND account_id = $2',
      [keywordId, accountId],
    );
    if (rows.length > 0)
      throw Refusal.conflict(
        'this request created a keyword that has been purged; to create it again, request a new estimate token or use another Idempotency-Key',
      );
  }

  private async commandToCreate(
    tx: Tx,
    accountId: string,
    definition: KeywordDefinition,
    counted: 'limited' | 'all' = 'limited',
  ) {
    const admitted = await this.admission.ofNew(tx, accountId, definition, counted);
    return {
      admitted,
      command: {
        kind: 'create-keyword' as const,
        definition,
        watches: admitted.watches.filter(({ disabled }) => !disabled),
        scheduled: isScheduled(definition.schedule, systemClock.now().getTime()),
        creditsRemaining: admitted.balance?.remaining ?? 0,
      },
    };
  }

  @CommandPattern(COMMANDS.changeKeyword)
  async change(command: ChangeKeyword) {
    const { accountId, keywordId, expectedVersion } = command;
    await this.decisions.requireOwn('keyword', accountId, keywordId);
    let resets: SearchReset[] = [];
    await this.decisions.run(command, keywordId, async (tx, state) => {
      const requested = { accountId, keywordId, definition: required(command.definition) };
      const { command: decided } = await this.commandToChange(tx, state, requested);
      resets = decided.searches.resets;
      return { ...decided, expectedVersion };
    });
    return create(ChangedSchema, { resets: resets.map((reset) => create(SearchResetSchema, reset)) });
  }

  /**
   * Returns the command that gives the keyword this definition, if its version has not changed meanwhile. New searches
   * get ids.
   */
  private async commandToChange(
    tx: Tx,
    state: KeywordState,
    requested: { accountId: string; keywordId: string; definition: KeywordDefinition },
    counted: 'limited' | 'all' = 'limited',
  ) {
    if (state.status !== 'keyword') throw refusalFor(state);
    const definition = withIds(requested.definition, state.watches);
    const { accountId, keywordId } = requested;
    const keyword = { keywordId, before: state.definition };
    const admitted = await this.admission.ofChanged(tx, accountId, definition, keyword, counted);
    return {
      admitted,
      command: {
        kind: 'change-keyword' as const,
        definition,
        searches: reconcile(admitted.watches, state.watches),
        expectedVersion: state.version,
        scheduled: isScheduled(definition.schedule, systemClock.now().getTime()),
        creditsRemaining: admitted.balance?.remaining ?? 0,
      },
    };
  }

  @CommandPattern(COMMANDS.retireKeyword)
  async retire(command: RetireKeyword) {
    const { accountId, keywordId, purge } = command;
    await this.decisions.requireOwn('keyword', accountId, keywordId);
    const state = await this.decisions.run(command, keywordId, () => ({ kind: 'retire-keyword' }));
    if (purge && state.status === 'keyword-retired') await this.requestPurge(command, state.everyWatchId);
    return create(DoneSchema);
  }

  /** Replaces the addresses of a keyword's feeds, even if the keyword is retired. */
  @CommandPattern(COMMANDS.rotateFeed)
  async rotateFeed(command: RotateFeed) {
    const { accountId, keywordId, commandId: feedKey } = command;
    await this.decisions.requireOwn('keyword', accountId, keywordId);
    await this.decisions.run(command, keywordId, () => ({ kind: 'rotate-feed', feedKey }));
    return create(DoneSchema);
  }

  private async requestPurge(
    { accountId, keywordId, commandId }: RetireKeyword,
    watchIds: readonly string[],
  ): Promise<void> {
    const purge = create(PurgeSchema, {
      accountId,
      keywordId,
      watchIds: [...watchIds],
      requestedAt: isoOf(systemClock.now()),
    });
    await this.store.publish(
      subjectOf('PURGES', accountId, keywordId),
      toBinary(PurgeSchema, purge),
      commandId,
    );
    await markPurged(this.decisions.database, { keywordId, accountId });
  }
}

/** Returns the enabled watches that are new, start over, or were disabled before. */
function startingOf(watches: readonly Watch[], state: KeywordState): Watch[] {
  const running = new Set(
    state.status === 'keyword'
      ? state.watches.flatMap((earlier) => (earlier.disabled ? [] : [earlier.watchId]))
      : [],
  );
  return watches.filter(({ watchId, disabled }) => !disabled && !running.has(watchId));
}

/** Returns the refusal of a change to a keyword that is retired or does not exist. */
function refusalFor({ status }: KeywordState): Refusal {
  return status === 'keyword-retired' ? Refusal.conflict(RETIRED) : Refusal.notFound('keyword');
}

function required(definition: KeywordDefinition | undefined): KeywordDefinition {
  if (!definition) throw Refusal.validation([{ path: 'definition', message: 'is missing' }]);
  return definition;
}
