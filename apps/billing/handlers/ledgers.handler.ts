import { create, fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller } from '@nestjs/common';
import { AccountDecisionSchema, GrantedSchema, type GrantCredits } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS, done, retry, type Outcome } from '#messaging';
import { CommandPattern, ConsumerPattern } from '#transport';
import type { LedgerCommand } from '../domain/ledger.js';
import { creditsOf } from '../domain/ledger-state.js';
import { AccountLedgers, ledgerCommandsOf } from '../ledger/account-ledgers.js';
import { LedgerWriter } from '../ledger/ledger-writer.js';

const RETRY_MS = 200;

/** Grants credits, opens ledgers, and changes allowances with the plan. */
@Controller()
export class LedgersHandler {
  constructor(
    private readonly ledgers: AccountLedgers,
    private readonly writer: LedgerWriter,
  ) {}

  /**
   * The commands that open accounts and change plans have already updated the ledgers. This consumer updates ledgers
   * that a crash has left without an update.
   */
  @ConsumerPattern({
    stream: 'ACCOUNTS',
    name: 'billing-accounts',
    batchSize: 200,
    lingerMs: 200,
  })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const decisions = batch.map(({ data }) => fromBinary(AccountDecisionSchema, data));
    const moving = decisions.filter((decision) => ledgerCommandsOf(decision).length > 0);
    const lastApplied = await this.ledgers.update(moving.map(({ accountId }) => accountId));
    // The replica of the stream that answers a read can be behind the replica that delivers messages.
    const isRead = (accountId: string, seq: number) => seq <= (lastApplied.get(accountId) ?? Infinity);
    return decisions.map(({ accountId }, index) =>
      isRead(accountId, batch[index]?.seq ?? 0) ? done : retry(RETRY_MS),
    );
  }

  @CommandPattern(COMMANDS.grantCredits)
  async grant({ commandId, accountId, amount, expiresAt, note }: GrantCredits) {
    const command: LedgerCommand = { kind: 'grant', packId: commandId, credits: amount, expiresAt, note };
    const grant = [{ accountId, command }];
    let ledger = (await this.writer.write(grant)).get(accountId);
    if (!ledger) {
      await this.ledgers.update([accountId]);
      ledger = (await this.writer.write(grant)).get(accountId);
    }
    if (!ledger) throw Refusal.notFound('account');
    return create(GrantedSchema, { packId: commandId, creditsRemaining: creditsOf(ledger) });
  }
}
