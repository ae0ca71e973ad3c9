import { setTimeout as wait } from 'node:timers/promises';
import { dropExpired } from '#credits';
import { isoOf, type Clock } from '#kernel';
import type { Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { LedgerWriter } from './ledger-writer.js';

const PAUSE_MS = 1000;
const ACCOUNTS_AT_ONCE = 500;

/** Renews allowances and takes expired packs out when their time has come, and drops what dead holders reserved. */
export class TurnLoop implements Loop {
  readonly name = 'ledgers';
  private readonly abort = new AbortController();
  private finished: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly writer: LedgerWriter,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.finished = this.work();
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await this.finished;
  }

  private async work(): Promise<void> {
    while (!this.abort.signal.aborted) {
      const turned = await this.pass().catch((error: unknown) => {
        this.log.error({ err: error }, 'ledgers could not be turned');
        return 0;
      });
      if (turned < ACCOUNTS_AT_ONCE)
        await wait(PAUSE_MS, undefined, { signal: this.abort.signal }).catch(() => {});
    }
  }

  private async pass(): Promise<number> {
    await dropExpired(this.database);
    // Locked for the moment of the look only: two replicas mostly take different accounts, and turning one twice
    // changes nothing.
    const rows: { account_id: string }[] = await this.database.query(
      `SELECT account_id FROM credit_balances WHERE turns_at <= $1
       ORDER BY turns_at LIMIT ${ACCOUNTS_AT_ONCE} FOR UPDATE SKIP LOCKED`,
      [isoOf(this.clock.now())],
    );
    await this.writer.write(rows.map((row) => ({ accountId: row.account_id, command: { kind: 'turn' } })));
    return rows.length;
  }
}
