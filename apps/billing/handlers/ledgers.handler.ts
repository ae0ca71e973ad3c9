import { create, fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { AccountDecisionSchema, GrantedSchema, type AccountDecision, type GrantCredits } from '#contracts';
import type { EventStore } from '#event-store';
import { Refusal } from '#kernel';
import { COMMANDS, commandHandler, done, subjectOf, type CommandHandler, type Durable } from '#messaging';
import { STORE } from '#platform';
import type { LedgerCommand } from '../domain/ledger.js';
import { creditsOf, type OpenLedger } from '../domain/ledger-state.js';
import { LedgerWriter, type AccountCommand } from '../ledger/ledger-writer.js';

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
        await this.follow(decisions.filter(movesCredits).map(({ accountId }) => accountId));
        return batch.map(() => done);
      },
    };
  }

  /**
   * Brings the ledgers up to what has been decided about the accounts. From the beginning each time, so that a change
   * of plan that was left behind is never made up for after a later one.
   */
  async follow(accountIds: readonly string[]): Promise<Map<string, OpenLedger>> {
    const commands = await Promise.all([...new Set(accountIds)].map((id) => this.commandsOf(id)));
    return this.writer.write(commands.flat());
  }

  private async commandsOf(accountId: string): Promise<AccountCommand[]> {
    const stored = await this.store.read('ACCOUNTS', subjectOf('ACCOUNTS', accountId));
    return stored
      .map(({ data }) => fromBinary(AccountDecisionSchema, data))
      .flatMap(ledgerCommandsOf)
      .map((command) => ({ accountId, command }));
  }

  private async grant({ commandId, accountId, amount, expiresAt, note }: GrantCredits) {
    const command: LedgerCommand = { kind: 'grant', packId: commandId, credits: amount, expiresAt, note };
    const grant = [{ accountId, command }];
    let ledger = (await this.writer.write(grant)).get(accountId);
    if (!ledger && (await this.follow([accountId])).has(accountId))
      ledger = (await this.writer.write(grant)).get(accountId);
    if (!ledger) throw Refusal.notFound('account');
    return create(GrantedSchema, { packId: commandId, creditsRemaining: creditsOf(ledger) });
  }
}

function movesCredits(decision: AccountDecision): boolean {
  return ledgerCommandsOf(decision).length > 0;
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
      case undefined:
        return [];
    }
  });
}
