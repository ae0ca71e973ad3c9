import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import {
  DoneSchema,
  KeywordDecisionSchema,
  MadeSchema,
  PurgeSchema,
  WatchSchema,
  type ChangeWatch,
  type CreateKeyword,
  type CreateWatch,
  type KeywordDecision,
  type KeywordEvent,
  type RetireKeyword,
  type RetireWatch,
  type SourceId,
} from '#contracts';
import { criteriaHash } from '#criteria';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, Refusal, systemClock } from '#kernel';
import { COMMANDS, commandHandler, subjectOf, type CommandHandler } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import { decide, evolve, nothingYet, type KeywordCommand, type KeywordState } from '../domain/keyword.js';
import { keywordsProjection } from '../projections/keywords.projection.js';
import { planWatches, withIds } from './plan-watches.js';

const keywords: Aggregate<KeywordState, KeywordEvent, KeywordDecision> = {
  stream: 'KEYWORDS',
  initial: nothingYet,
  evolve,
  decode: (data) => fromBinary(KeywordDecisionSchema, data),
  encode: (decision) => toBinary(KeywordDecisionSchema, decision),
};

interface Addressed {
  commandId: string;
  accountId: string;
}

/** Carries out the commands on keywords and on watches that no keyword owns. */
@Injectable()
export class KeywordsHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  commands(): CommandHandler[] {
    return [
      commandHandler(COMMANDS.createKeyword, (command) => this.createKeyword(command)),
      commandHandler(COMMANDS.retireKeyword, (command) => this.retireKeyword(command)),
      commandHandler(COMMANDS.createWatch, (command) => this.createWatch(command)),
      commandHandler(COMMANDS.changeWatch, (command) => this.changeWatch(command)),
      commandHandler(COMMANDS.retireWatch, (command) => this.retireWatch(command)),
    ];
  }

  /** The command's id becomes the keyword's, so that a repeated command meets its own subject. */
  private async createKeyword(command: CreateKeyword) {
    if (!command.definition) throw Refusal.validation([{ path: 'definition', message: 'is missing' }]);
    const definition = withIds(command.definition);
    await this.run(command, command.commandId, () => ({
      kind: 'create-keyword',
      definition,
      watches: planWatches(definition),
    }));
    return create(MadeSchema, { id: command.commandId });
  }

  private async retireKeyword(command: RetireKeyword) {
    await this.requireOwn('keywords', 'keyword_id', command.accountId, command.keywordId, 'keyword');
    const state = await this.run(command, command.keywordId, () => ({ kind: 'retire-keyword' }));
    if (command.purge && state.status === 'keyword-retired')
      await this.requestPurge(
        command,
        state.watches.map((watch) => watch.watchId),
      );
    return create(DoneSchema);
  }

  private async createWatch(command: CreateWatch) {
    if (!command.criteria) throw Refusal.validation([{ path: 'criteria', message: 'is missing' }]);
    const { criteria, source, intervalSeconds, backfill, webhookUrl, ai, analysis } = command;
    const hash = criteriaHash(source as SourceId, criteria);
    const watch = create(WatchSchema, {
      watchId: command.commandId,
      source,
      criteria,
      criteriaHash: hash,
      intervalSeconds,
      backfill,
    });
    await this.run(command, command.commandId, async (tx) => ({
      kind: 'create-watch',
      watch,
      webhookUrl,
      ai,
      analysis,
      collides: await collides(tx, command.accountId, hash, command.commandId),
    }));
    return create(MadeSchema, { id: command.commandId });
  }

  private async changeWatch(command: ChangeWatch) {
    const { watchId, accountId, intervalSeconds, webhookUrl, isActive } = command;
    await this.requireLone(accountId, watchId);
    await this.run(command, watchId, async (tx, state) => ({
      kind: 'change-watch',
      intervalSeconds,
      webhookUrl,
      isActive,
      collides:
        state.status === 'watch' && (await collides(tx, accountId, state.watch.criteriaHash, watchId)),
    }));
    return create(MadeSchema, { id: watchId });
  }

  private async retireWatch(command: RetireWatch) {
    await this.requireLone(command.accountId, command.watchId);
    await this.run(command, command.watchId, () => ({ kind: 'retire-watch' }));
    return create(DoneSchema);
  }

  private run(
    { accountId, commandId }: Addressed,
    subjectId: string,
    commandOf: (tx: Tx, state: KeywordState) => KeywordCommand | Promise<KeywordCommand>,
  ): Promise<KeywordState> {
    return execute(this.database, this.store, {
      aggregate: keywords,
      projection: keywordsProjection,
      accountId,
      subjectTokens: [subjectId],
      commandId,
      decide: async (state, tx) => decide(await commandOf(tx, state), state),
      decisionOf: (events) =>
        create(KeywordDecisionSchema, {
          commandId,
          accountId,
          subjectId,
          decidedAt: isoOf(systemClock.now()),
          events,
        }),
    });
  }

  private async requestPurge(
    { accountId, keywordId, commandId }: RetireKeyword,
    watchIds: string[],
  ): Promise<void> {
    const purge = create(PurgeSchema, {
      accountId,
      keywordId,
      watchIds,
      requestedAt: isoOf(systemClock.now()),
    });
    await this.store.publish(
      subjectOf('PURGES', accountId, keywordId),
      toBinary(PurgeSchema, purge),
      commandId,
    );
    // Gone for every reader at once; the streams and the other stores follow.
    await this.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
  }

  private async requireLone(accountId: string, watchId: string): Promise<void> {
    await this.requireOwn('watches', 'watch_id', accountId, watchId, 'watch');
    const rows: unknown[] = await this.database.query(
      'SELECT 1 FROM watches WHERE watch_id = $1 AND keyword_id IS NOT NULL',
      [watchId],
    );
    if (rows.length > 0)
      throw Refusal.conflict(
        'the watch belongs to a keyword and changes with it; change or delete the keyword',
      );
  }

  private async requireOwn(
    table: 'keywords' | 'watches',
    column: 'keyword_id' | 'watch_id',
    accountId: string,
    id: string,
    what: string,
  ): Promise<void> {
    const rows: unknown[] = await this.database.query(
      `SELECT 1 FROM ${table} WHERE ${column} = $1 AND account_id = $2`,
      [id, accountId],
    );
    if (rows.length === 0) throw Refusal.notFound(what);
  }
}

async function collides(tx: Tx, accountId: string, hash: string, exceptWatchId: string): Promise<boolean> {
  const rows: unknown[] = await tx.query(
    `SELECT 1 FROM watches WHERE account_id = $1 AND criteria_hash = $2 AND watch_id <> $3
       AND is_active AND retired_at IS NULL`,
    [accountId, hash, exceptWatchId],
  );
  return rows.length > 0;
}
