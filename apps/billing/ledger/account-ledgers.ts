import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AccountDecisionSchema, type AccountDecision } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';
import { STORE } from '#platform';
import type { LedgerCommand } from '../domain/ledger.js';
import { LedgerWriter, type AccountCommand } from './ledger-writer.js';

/** Applies decisions about accounts to the accounts' ledgers. */
@Injectable()
export class AccountLedgers {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    private readonly writer: LedgerWriter,
  ) {}

  /**
   * Applies all decisions about the accounts to their ledgers. Reads all decisions from the first one each time, so
   * that a missed change of plan is never applied after a later change.
   * @returns the sequence number of the last applied message of ACCOUNTS for each account; 0 if there is none
   */
  async update(accountIds: readonly string[]): Promise<Map<string, number>> {
    const lastApplied = new Map<string, number>();
    const commands: AccountCommand[] = [];
    await Promise.all(
      [...new Set(accountIds)].map(async (accountId) => {
        const stored = await this.store.read('ACCOUNTS', subjectOf('ACCOUNTS', accountId));
        lastApplied.set(accountId, stored.at(-1)?.seq ?? 0);
        for (const { data } of stored)
          for (const command of ledgerCommandsOf(fromBinary(AccountDecisionSchema, data)))
            commands.push({ accountId, command });
      }),
    );
    await this.writer.write(commands);
    return lastApplied;
  }
}

/** Returns the ledger commands that follow from a decision about an account. */
export function ledgerCommandsOf({ commandId, decidedAt, events }: AccountDecision): LedgerCommand[] {
  return events.flatMap(({ event }): LedgerCommand[] => {
    switch (event.case) {
      case 'accountOpened':
        return [{ kind: 'open', plan: event.value.plan, at: decidedAt }];
      case 'planChanged':
        return [{ kind: 'change-plan', changeId: commandId, plan: event.value.plan }];
      case 'apiKeyCreated':
      case 'apiKeyRenamed':
      case 'apiKeyLimited':
      case 'apiKeyRevoked':
      case 'invitationCreated':
      case 'invitationRevoked':
      case 'memberJoined':
      case 'memberRoleChanged':
      case 'memberRemoved':
      case 'passwordChanged':
      case 'signingSecretRotated':
      case 'secretsResealed':
      case 'accountChanged':
      case undefined:
        return [];
    }
  });
}
