import { createLogger } from '#telemetry';
import type { OpenLedger } from '../domain/ledger-state.js';
import { openLedgerStores, OPENED_AT, type LedgerStores } from './testing/ledger-under-test.js';
import { LedgerWriter, type AccountCommand } from './ledger-writer.js';
import { RenewalsLoop } from './renewals.loop.js';

let stores: LedgerStores;
beforeAll(async () => {
  stores = await openLedgerStores();
});
afterAll(() => stores?.drop());

/** A writer that fails for some accounts, as if the tables and the stream of these accounts contradicted each other. */
class FailingWriter extends LedgerWriter {
  readonly tried: string[][] = [];

  constructor(private readonly bad: ReadonlySet<string>) {
    super(stores.database, stores.store, stores.clock);
  }

  override async write(commands: readonly AccountCommand[]): Promise<Map<string, OpenLedger>> {
    this.tried.push(commands.map(({ accountId }) => accountId));
    if (commands.some(({ accountId }) => this.bad.has(accountId)))
      throw new Error('these ledgers cannot be renewed');
    return super.write(commands);
  }
}

it('an account whose ledger cannot be renewed does not delay other accounts, and is skipped for a minute', async () => {
  stores.clock.at = OPENED_AT;
  const [bad, ...good] = [await stores.open(), await stores.open(), await stores.open()];
  await stores.database.query(
    `UPDATE credit_balances SET turns_at = turns_at - interval '1 day' WHERE account_id = $1`,
    [bad],
  );
  stores.clock.at = '2026-03-01T00:00:00.000Z';
  const writer = new FailingWriter(new Set([bad]));
  const loop = new RenewalsLoop(stores.database, writer, stores.clock, createLogger('spec', 'silent'));
  expect(await loop.pass()).toBe(3);
  const renewed = await Promise.all(good.map(async (id) => (await stores.movementsOf(id)).length));
  expect([renewed, (await stores.movementsOf(bad)).length]).toEqual([[2, 2], 1]);
  expect(await loop.pass()).toBe(0);
  stores.clock.at = '2026-03-01T00:01:00.000Z';
  expect(await loop.pass()).toBe(1);
});

it('a pass of the renewals ends after three accounts in a row have failed', async () => {
  stores.clock.at = OPENED_AT;
  const all: string[] = [];
  for (let n = 0; n < 6; n += 1) all.push(await stores.open());
  stores.clock.at = '2026-03-02T00:00:00.000Z';
  const writer = new FailingWriter(new Set(all));
  const loop = new RenewalsLoop(stores.database, writer, stores.clock, createLogger('spec', 'silent'));
  await stores.database.query('UPDATE credit_balances SET turns_at = $2 WHERE account_id <> ALL($1)', [
    all,
    '2099-01-01',
  ]);
  await loop.pass();
  expect(writer.tried.map((accounts) => accounts.length)).toEqual([6, 1, 1, 1]);
});
