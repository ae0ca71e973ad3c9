import { create, fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AccountDecisionSchema, GrantedSchema, type AccountDecision, type GrantCredits } from '#contracts';
import type { EventStore } from '#event-store';
import { Refusal } from '#kernel';
import {
  COMMANDS,
  commandHandler,
  done,
  retry,
  subjectOf,
  type CommandHandler,
  type Durable,
} from '#messaging';
import { STORE } from '#platform';
import type { LedgerCommand } from '../domain/ledger.js';
import { creditsOf } from '../domain/ledger-state.js';
import { LedgerWriter, type AccountCommand } from '../ledger/ledger-writer.js';

const READ_BEHIND_MS = 200;

/** Grants, and what ACCOUNTS brings about: ledgers are opened, allowances change with the plan. */
@Injectable()
export class LedgersHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    private readonly writer: LedgerWriter,
  ) {}

  commands(): CommandHandler[] {
    return [commandHandler(COMMANDS.grantCredits, (command) => this.grant(command))];
  }

  /** The commands that open accounts and change plans have followed already: here is what a crash left behind. */
  durable(): Durable {
    return {
      stream: 'ACCOUNTS',
      name: 'billing-accounts',
      batchSize: 200,
      lingerMs: 200,
      inOrder: true,
      handle: async (batch) => {
        const decisions = batch.map(({ data }) => fromBinary(AccountDecisionSchema, data));
        const moving = decisions.filter((decision) => ledgerCommandsOf(decision).length > 0);
        const followed = await this.follow(moving.map(({ accountId }) => accountId));
        // A copy of the stream that answers a read may be behind the one that hands out messages.
        const isRead = (accountId: string, seq: number) => seq <= (followed.get(accountId) ?? Infinity);
        return decisions.map(({ accountId }, index) =>
          isRead(accountId, batch[index]?.seq ?? 0) ? done : retry(READ_BEHIND_MS),
        );
      },
    };
  }

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

  private async grant({ commandId, accountId, amount, expiresAt, note }: GrantCredits) {
    const command: LedgerCommand = { kind: 'grant', packId: commandId, credits: amount, expiresAt, note };
    const grant = [{ accountId, command }];
    let ledger = (await this.writer.write(grant)).get(accountId);
    if (!ledger) {
      await this.follow([accountId]);
      ledger = (await this.writer.write(grant)).get(accountId);
    }
    if (!ledger) throw Refusal.notFound('account');
    return create(GrantedSchema, { packId: commandId, creditsRemaining: creditsOf(ledger) });
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
