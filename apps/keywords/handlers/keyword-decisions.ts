import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { KeywordDecisionSchema, type KeywordDecision, type KeywordEvent } from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, newId, Refusal, refuseOversize, systemClock } from '#kernel';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import { decide } from '../domain/keyword.js';
import type { KeywordCommand } from '../domain/keyword-command.js';
import { evolve, nothingYet, type KeywordState } from '../domain/keyword-state.js';
import { keywordsProjection } from '../projections/keywords.projection.js';

const TO_SHORTEN =
  'each search is stored with all of its criteria, the global ones too: shorten the filters, or have fewer searches';

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

/** Whose command, and its id: repeating it changes nothing. */
export interface Addressed {
  commandId: string;
  accountId: string;
}

/** Decides commands on one keyword or lone watch: under the account's lock, from its stream, into its stream. */
@Injectable()
export class KeywordDecisions {
  constructor(
    @Inject(DATABASE) readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /**
   * @param commandOf the domain's command, made under the lock; undefined: there is nothing to do any more
   * @returns the subject as it is after it
   * @throws Refusal as the domain and `commandOf` do
   */
  run(
    { accountId, commandId }: Addressed,
    subjectId: string,
    commandOf: (
      tx: Tx,
      state: KeywordState,
    ) => KeywordCommand | undefined | Promise<KeywordCommand | undefined>,
  ): Promise<KeywordState> {
    return execute(this.database, this.store, {
      aggregate: keywords,
      projection: keywordsProjection,
      accountId,
      subjectTokens: [subjectId],
      commandId,
      decide: async (state, tx) => {
        const command = await commandOf(tx, state);
        return command ? decide(command, state) : [];
      },
      decisionOf: (events) => decisionOf({ commandId, accountId }, subjectId, events),
    });
  }

  /** Decides what `run` would of something new, and leaves it at that. @throws Refusal as `run` does */
  tryNew(accountId: string, command: KeywordCommand): void {
    keywords.encode(decisionOf({ commandId: newId(), accountId }, newId(), decide(command, nothingYet)));
  }

  /** @throws Refusal `not-found` where the account has no such thing */
  async requireOwn(what: 'keyword' | 'watch', accountId: string, id: string): Promise<void> {
    const rows: unknown[] = await this.database.query(
      what === 'keyword'
        ? 'SELECT 1 FROM keywords WHERE keyword_id = $1 AND account_id = $2'
        : 'SELECT 1 FROM watches WHERE watch_id = $1 AND account_id = $2',
      [id, accountId],
    );
    if (rows.length === 0) throw Refusal.notFound(what);
  }
}

function decisionOf(
  { commandId, accountId }: Addressed,
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
