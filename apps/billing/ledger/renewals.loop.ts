import { isoOf, Repeated, type Clock } from '#kernel';
import type { Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { LedgerWriter } from './ledger-writer.js';

const PAUSE_MS = 1000;
const ACCOUNTS_PER_PASS = 500;
/**
 * An account whose ledger cannot be renewed is skipped for this time, so that this account does not come first in every
 * pass.
 */
const SKIP_MS = 60_000;
/**
 * After this number of failures in a row, the pass ends, because the cause is probably not a single account. The next
 * pass renews the remaining accounts.
 */
const MAX_FAILURES_IN_A_ROW = 3;

/** Renews allowances at the end of a period, and removes expired packs. */
export class RenewalsLoop implements Loop {
  readonly name = 'ledgers';
  private readonly passes = new Repeated({
    pauseMs: PAUSE_MS,
    run: async () => (await this.pass()) === ACCOUNTS_PER_PASS,
    failed: (error) => this.log.error({ err: error }, 'ledgers could not be renewed'),
  });
  /** Failed accounts, and the time until which they are skipped, in ms. */
  private readonly skipped = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly writer: LedgerWriter,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.passes.start();
  }

  stop(): Promise<void> {
    return this.passes.stop();
  }

  /**
   * Renews up to `ACCOUNTS_PER_PASS` ledgers that are due.
   * @returns the number of ledgers that this pass has selected
   */
  async pass(): Promise<number> {
    const now = this.clock.now();
    for (const [accountId, until] of this.skipped) if (until <= now.getTime()) this.skipped.delete(accountId);
    // The rows are locked only during this query, so two replicas usually get different accounts. If both get the same
    // account, the second renewal changes nothing.
    const rows: { account_id: string }[] = await this.database.query(
      `SELECT account_id FROM credit_balances WHERE turns_at <= $1 AND account_id <> ALL($2)
       ORDER BY turns_at LIMIT ${ACCOUNTS_PER_PASS} FOR UPDATE SKIP LOCKED`,
      [isoOf(now), [...this.skipped.keys()]],
    );
    const accountIds = rows.map((row) => row.account_id);
    await this.renew(accountIds).catch(() => this.renewEach(accountIds));
    return rows.length;
  }

  /**
   * Renews each account separately after the batch has failed, so that a faulty account does not delay other accounts.
   */
  private async renewEach(accountIds: readonly string[]): Promise<void> {
    let failures = 0;
    for (const accountId of accountIds) {
      if (failures === MAX_FAILURES_IN_A_ROW) return;
      try {
        await this.renew([accountId]);
        failures = 0;
      } catch (error) {
        failures += 1;
        this.skipped.set(accountId, this.clock.now().getTime() + SKIP_MS);
        this.log.error({ err: error, accountId }, 'the account’s ledger could not be renewed');
      }
    }
  }

  private async renew(accountIds: readonly string[]): Promise<void> {
    await this.writer.write(accountIds.map((accountId) => ({ accountId, command: { kind: 'renew' } })));
  }
}
