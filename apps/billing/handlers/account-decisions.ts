import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AccountDecisionSchema, type AccountDecision, type AccountEvent } from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { isoOf, systemClock } from '#kernel';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import { decide, evolve, noAccount, type AccountCommand, type AccountState } from '../domain/account.js';
import { accountsProjection } from '../projections/accounts.projection.js';

const accounts: Aggregate<AccountState, AccountEvent, AccountDecision> = {
  stream: 'ACCOUNTS',
  initial: noAccount,
  evolve,
  decode: (data) => fromBinary(AccountDecisionSchema, data),
  encode: (decision) => toBinary(AccountDecisionSchema, decision),
};

/** Decides commands on one account: takes the account's lock, reads the account's stream, and appends to the stream. */
@Injectable()
export class AccountDecisions {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /**
   * Decides a command, and stores the result.
   * @param commandId a repeated call with the same id changes nothing
   * @param before runs in the decision's transaction, before the decision
   * @returns the state after the decision
   * @throws Refusal of the decision, or the error of `before`
   */
  run(
    accountId: string,
    commandId: string,
    command: AccountCommand,
    before: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<AccountState> {
    return execute(this.database, this.store, {
      aggregate: accounts,
      projection: accountsProjection,
      accountId,
      subjectTokens: [],
      commandId,
      async decide(state, tx) {
        await before(tx);
        return decide(command, state);
      },
      decisionOf: (events) =>
        create(AccountDecisionSchema, { commandId, accountId, decidedAt: isoOf(systemClock.now()), events }),
    });
  }
}
