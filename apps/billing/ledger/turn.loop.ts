import { isoOf, Repeated, type Clock } from '#kernel';
import type { Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { LedgerWriter } from './ledger-writer.js';

const PAUSE_MS = 1000;
const ACCOUNTS_AT_ONCE = 500;
/** An account whose ledger cannot be turned is left alone for so long: it must not come first for ever. */
const REST_MS = 60_000;
/** After this many failures in a row the accounts are hardly the cause: the next pass tries the rest. */
const FAILURES_AT_ONCE = 3;

/** Renews allowances and takes expired packs out when their time has come. */
export class TurnLoop implements Loop {
  readonly name = 'ledgers';
  private readonly passes = new Repeated({
    pauseMs: PAUSE_MS,
    run: async () => (await this.pass()) === ACCOUNTS_AT_ONCE,
    failed: (error) => this.log.error({ err: error }, 'ledgers could not be turned'),
  });
  /** Accounts that failed, and until when they are left alone, in ms. */
  private readonly resting = new Map<string, number>();

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

  /** @returns how many ledgers were looked at */
  async pass(): Promise<number> {
    const now = this.clock.now();
    for (const [accountId, until] of this.resting) if (until <= now.getTime()) this.resting.delete(accountId);
    // Locked for the moment of the look only: two replicas mostly take different accounts, and turning one twice
    // changes nothing.
    const rows: { account_id: string }[] = await this.database.query(
      `SELECT account_id FROM credit_balances WHERE turns_at <= $1 AND account_id <> ALL($2)
       ORDER BY turns_at LIMIT ${ACCOUNTS_AT_ONCE} FOR UPDATE SKIP LOCKED`,
      [isoOf(now), [...this.resting.keys()]],
    );
    const accountIds = rows.map((row) => row.account_id);
    await this.turn(accountIds).catch(() => this.turnEach(accountIds));
    return rows.length;
  }

  /** One of them fails, and must not hold up the others. */
  private async turnEach(accountIds: readonly string[]): Promise<void> {
    let failures = 0;
    for (const accountId of accountIds) {
      if (failures === FAILURES_AT_ONCE) return;
      try {
        await this.turn([accountId]);
        failures = 0;
      } catch (error) {
        failures += 1;
        this.resting.set(accountId, this.clock.now().getTime() + REST_MS);
        this.log.error({ err: error, accountId }, 'the account’s ledger could not be turned');
      }
    }
  }

  private async turn(accountIds: readonly string[]): Promise<void> {
    await this.writer.write(accountIds.map((accountId) => ({ accountId, command: { kind: 'turn' } })));
  }
}
