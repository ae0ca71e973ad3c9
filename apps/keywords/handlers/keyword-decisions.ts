import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { KeywordDecisionSchema, type KeywordDecision, type KeywordEvent } from '#contracts';
import { execute, readState, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, newId, Refusal, refuseOversize, systemClock } from '#kernel';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import { decide } from '../domain/keyword.js';
import type { KeywordCommand } from '../domain/keyword-command.js';
import { evolve, nothingYet, type KeywordState } from '../domain/keyword-state.js';
import { keywordsProjection } from '../projections/keywords.projection.js';

const TO_SHORTEN =
  'each search is stored with all of its criteria, including the global criteria: shorten the filters, or use fewer searches';

const keywords: Aggregate<KeywordState, KeywordEvent, KeywordDecision> = {
  stream: 'KEYWORDS',
  initial: nothingYet,
  evolve,
  decode: (data) => fromBinary(KeywordDecisionSchema, data),
  encode(decision) {
    const data = toBinary(KeywordDecisionSchema, decision);
    refuseOversize('the keyword', data.length, TO_SHORTEN);
    return data;
  },
};

/** The id of a command, and its account. A repeated command with the same id changes nothing. */
export interface CommandIds {
  commandId: string;
  accountId: string;
}

/** Returns the domain's command for the state of its subject; undefined if there is nothing to do. */
type CommandOf = (
  tx: Tx,
  state: KeywordState,
) => KeywordCommand | undefined | Promise<KeywordCommand | undefined>;

/**
 * Decides commands on one keyword, or one watch without a keyword: takes the account's lock, reads the stream, and
 * appends to the stream.
 */
@Injectable()
export class KeywordDecisions {
  constructor(
    @Inject(DATABASE) readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /**
   * Decides a command, and stores the result.
   * @param commandOf runs under the lock
   * @returns the state after the command
   * @throws Refusal of `decide` or of `commandOf`, or if the decision is too large
   */
  run(ids: CommandIds, subjectId: string, commandOf: CommandOf): Promise<KeywordState> {
    return execute(this.database, this.store, {
      ...this.executionOf(ids, subjectId),
      async decide(state, tx) {
        const command = await commandOf(tx, state);
        return command ? decide(command, state) : [];
      },
    });
  }

  /**
   * Decides a command that creates its subject, and stores the result. Such a command does not depend on the state, so
   * the statements of `commandOf` are sent to Postgres together with the statements of the locks.
   * @throws Refusal of `decide` or of `commandOf`, or if the decision is too large
   */
  async runNew(
    ids: CommandIds,
    subjectId: string,
    commandOf: (tx: Tx) => Promise<KeywordCommand>,
  ): Promise<void> {
    await execute(this.database, this.store, {
      ...this.executionOf(ids, subjectId),
      read: commandOf,
      decide: (state, _tx, command) => decide(command, state),
    });
  }

  /**
   * Decides a command on an existing subject without storing the result. Does not take the account's lock: estimates
   * are free, and many estimates must not occupy connections to Postgres while they wait for the lock.
   * @throws Refusal like `run`
   */
  async tryOn<C extends KeywordCommand>(
    accountId: string,
    subjectId: string,
    commandOf: (tx: Tx, state: KeywordState) => Promise<C>,
  ): Promise<void> {
    const state = await readState(this.store, keywords, accountId, [subjectId]);
    const command = await commandOf(this.database.manager, state);
    const ids = { accountId, commandId: newId() };
    keywords.encode(decisionOf(ids, subjectId, decide(command, state)));
  }

  /** Decides a command on a new subject without storing the result. @throws Refusal like `run` */
  tryNew(accountId: string, command: KeywordCommand): void {
    keywords.encode(decisionOf({ commandId: newId(), accountId }, newId(), decide(command, nothingYet)));
  }

  /** @throws Refusal `not-found` if the account has no such keyword or watch */
  async requireOwn(what: 'keyword' | 'watch', accountId: string, id: string): Promise<void> {
    const rows: unknown[] = await this.database.query(
      what === 'keyword'
        ? 'SELECT 1 FROM keywords WHERE keyword_id = $1 AND account_id = $2'
        : 'SELECT 1 FROM watches WHERE watch_id = $1 AND account_id = $2',
      [id, accountId],
    );
    if (rows.length === 0) throw Refusal.notFound(what);
  }

  private executionOf(ids: CommandIds, subjectId: string) {
    return {
      aggregate: keywords,
      projection: keywordsProjection,
      ...ids,
      subjectTokens: [subjectId],
      decisionOf: (events: KeywordEvent[]) => decisionOf(ids, subjectId, events),
    };
  }
}

function decisionOf(
  { commandId, accountId }: CommandIds,
  subjectId: string,
  events: KeywordEvent[],
): KeywordDecision {
  return create(KeywordDecisionSchema, {
    commandId,
    accountId,
    subjectId,
    decidedAt: isoOf(systemClock.now()),
    events,
  });
}
