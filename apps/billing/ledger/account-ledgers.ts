import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AccountDecisionSchema, type AccountDecision } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';
import { STORE } from '#platform';
import type { LedgerCommand } from '../domain/ledger.js';
import { LedgerWriter, type AccountCommand } from './ledger-writer.js';

/** Makes ledgers follow what is decided about their accounts. */
@Injectable()
export class AccountLedgers {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    private readonly writer: LedgerWriter,
  ) {}

  /**
   * Brings the ledgers up to what has been decided about the accounts. From the beginning each time, so that a change
   * of plan that was left behind is never made up for after a later one.
   * @returns the last message of ACCOUNTS that was followed, for each account
   */
  async follow(accountIds: readonly string[]): Promise<Map<string, number>> {
    const followed = new Map<string, number>();
    const commands: AccountCommand[] = [];
    await Promise.all(
      [...new Set(accountIds)].map(async (accountId) => {
        const stored = await this.store.read('ACCOUNTS', subjectOf('ACCOUNTS', accountId));
        followed.set(accountId, stored.at(-1)?.seq ?? 0);
        for (const { data } of stored)
          for (const command of ledgerCommandsOf(fromBinary(AccountDecisionSchema, data)))
            commands.push({ accountId, command });
      }),
    );
    await this.writer.write(commands);
    return followed;
  }
}

/** What a decision about an account means for its ledger. */
export function ledgerCommandsOf({ commandId, decidedAt, events }: AccountDecision): LedgerCommand[] {
  return events.flatMap(({ event }): LedgerCommand[] => {
    switch (event.case) {
      case 'accountOpened':
        return [{ kind: 'open', plan: event.value.plan, at: decidedAt }];
      case 'planChanged':
        return [{ kind: 'change-plan', changeId: commandId, plan: event.value.plan }];
      case 'apiKeyCreated':
      case 'apiKeyRevoked':
      case 'signingSecretRotated':
      case 'secretsResealed':
      case 'accountChanged':
      case undefined:
        return [];
    }
  });
}
