/**
 * Measures charges per second. The ledger's writer charges in batches, once for one busy account and once for many
 * accounts. For comparison, a simple program locks the row of one busy account for each charge.
 * `npm run -s build && node dist/bench/ledger.js`
 */
import { EventStore } from '#event-store';
import { newId, systemClock } from '#kernel';
import { connectBus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { LedgerWriter, type AccountCommand } from '../apps/billing/ledger/ledger-writer.js';
import {
  benchStores,
  helpWanted,
  median,
  numberOption,
  quantile,
  ratios,
  runBench,
  printProgress,
  table,
  target,
} from './harness.js';

helpWanted(`
Usage: node dist/bench/ledger.js [--seconds 3] [--rounds 4] [--batch 1000] [--accounts 200]

Prints how many charges a second the ledger's writer stores in JetStream and Postgres, in batches: once for one account, and
once for many accounts. The baseline is one statement for each charge, UPDATE ... WHERE balance >= cost and INSERT of the
movement, on eight connections. Takes about one minute.
`);

const SECONDS = numberOption('seconds', 3);
const ROUNDS = numberOption('rounds', 4);
const BATCH = numberOption('batch', 1000);
const ACCOUNTS = numberOption('accounts', 200);
const CONNECTIONS = 8;
const KEYWORD = newId();
const WATCH = newId();

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const bus = await connectBus(stores.natsUrl, 'bench', createLogger('bench', 'silent'));
  cleanup.add(() => bus.close());
  const database = await openDatabase(stores.databaseUrl, 'bench', CONNECTIONS);
  cleanup.add(() => database.destroy());
  const writer = new LedgerWriter(database, new EventStore(bus), systemClock);
  const accounts = Array.from({ length: ACCOUNTS }, newId);
  const [hot, locked] = [newId(), newId()];
  await open(writer, [...accounts, hot, locked]);
  const rates = { hot: [] as number[], spread: [] as number[], locks: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const once = {
      hot: await inBatches(writer, [hot]),
      spread: await inBatches(writer, accounts),
      locks: await byRowLock(database, locked),
    };
    // The first round warms up.
    if (round === 0) continue;
    for (const variant of ['hot', 'spread', 'locks'] as const) rates[variant].push(once[variant]);
    printProgress(`round ${round} of ${ROUNDS}`);
  }
  table(
    ['charges a second', 'median', 'lowest'],
    [
      [`writer, one hot account, batches of ${BATCH}`, ...cells(rates.hot)],
      [`writer, ${ACCOUNTS} accounts, batches of ${BATCH}`, ...cells(rates.spread)],
      [`row lock, one hot account, ${CONNECTIONS} connections`, ...cells(rates.locks)],
    ],
  );
  target('hot account / row lock', median(ratios(rates.hot, rates.locks)), 5, 'at least');
  target('many accounts / row lock', median(ratios(rates.spread, rates.locks)), 5, 'at least');
  target('hot account / many accounts', median(ratios(rates.hot, rates.spread)), 0.8, 'at least');
});

function cells(values: readonly number[]): string[] {
  return [median(values), quantile(values, 0)].map((value) => Math.round(value).toLocaleString('en'));
}

async function open(writer: LedgerWriter, accountIds: readonly string[]): Promise<void> {
  const at = systemClock.now().toISOString();
  await writer.write(
    accountIds.map((accountId) => ({ accountId, command: { kind: 'open', plan: 'unlimited', at } })),
  );
}

/** Writes one batch after another, like billing's consumer. */
async function inBatches(writer: LedgerWriter, accountIds: readonly string[]): Promise<number> {
  const began = performance.now();
  let charged = 0;
  while (performance.now() - began < SECONDS * 1000) {
    await writer.write(
      Array.from({ length: BATCH }, (_, n) => chargeOf(accountIds[(charged + n) % accountIds.length] ?? '')),
    );
    charged += BATCH;
  }
  return (charged / (performance.now() - began)) * 1000;
}

function chargeOf(accountId: string): AccountCommand {
  const checkId = newId();
  return {
    accountId,
    command: {
      kind: 'charge',
      operation: 'check',
      source: 'hackernews',
      keywordId: KEYWORD,
      watchId: WATCH,
      checkId,
      reference: checkId,
      at: '2026-03-04T05:06:07.089Z',
      costCredits: 1,
      rateCredits: 1,
      units: 1,
      priceBookVersion: '2026-11-20',
    },
  };
}

/** Writes the balance and the movement of each charge with one statement, without the usage and without a stream. */
async function byRowLock(database: Database, accountId: string): Promise<number> {
  const began = performance.now();
  let charged = 0;
  const charge = async () => {
    while (performance.now() - began < SECONDS * 1000) {
      const id = newId();
      await database.query(
        `WITH paid AS (
           UPDATE credit_balances SET balance = balance - 1, allowance_used = allowance_used + 1, seq = seq + 1
           WHERE account_id = $1 AND balance >= 1 RETURNING balance, seq)
         INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
           operation, source, keyword_id, watch_id, check_id, rate, units, price_book_version, reference)
         SELECT $2, $1, seq, 0, now(), now(), 'charge', -1, balance, 'check', 'hackernews', $3, $4, $2, 1, 1, $5, $6
         FROM paid`,
        [accountId, id, KEYWORD, WATCH, '2026-11-20', id],
      );
      charged += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, charge));
  return (charged / (performance.now() - began)) * 1000;
}
