import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Outage } from '#kernel';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { openDatabase, transactionWithoutLimit, type Database, type Tx } from './index.js';

const WITHIN_MS = 300;
/** Takes twice as long as the limit for a statement. */
const SLOW = 'SELECT pg_sleep(0.6)';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 2, { statementMs: WITHIN_MS });
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

it('a statement that takes too long is cancelled, unless its transaction has no time limit', async () => {
  await expect(database.query(SLOW)).rejects.toMatchObject({ code: '57014' });
  await expect(database.transaction((tx) => tx.query(SLOW))).rejects.toMatchObject({ code: '57014' });
  await transactionWithoutLimit(database, (tx) => tx.query(SLOW));
  // The limit applies again after that transaction.
  await expect(database.query(SLOW)).rejects.toMatchObject({ code: '57014' });
});

it('Postgres ends the transaction of a frozen process and releases its locks', async () => {
  const service = await openDatabase(stores.databaseUrl, 'service', 1, { idleInTransactionMs: 300 });
  const lock = (tx: Tx) => tx.query('SELECT pg_advisory_xact_lock(1)');
  let isFree = false;
  const frozen = service.transaction(async (tx) => {
    await lock(tx);
    await transactionWithoutLimit(database, lock);
    isFree = true;
    await lock(tx);
  });
  await expect(frozen).rejects.toThrow();
  expect(isFree).toBe(true);
  expect(await service.query('SELECT 1 AS works')).toEqual([{ works: 1 }]);
  await service.destroy();
});

it('the default limits are a minute for a statement, three minutes for an idle transaction, and a minute for a lost host', async () => {
  const service = await openDatabase(stores.databaseUrl, 'service');
  const settings = await service.query<{ name: string; setting: string }[]>(
    `SELECT name, setting FROM pg_settings
     WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count')`,
  );
  await service.destroy();
  expect(Object.fromEntries(settings.map(({ name, setting }) => [name, Number(setting)]))).toEqual({
    statement_timeout: 60_000,
    idle_in_transaction_session_timeout: 180_000,
    tcp_keepalives_idle: 30,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
  });
});

it.each([true, false])(
  'a Postgres that accepts connections but does not answer is an outage after `connectMs` (migrates: %s)',
  async (migrates) => {
    const accepted: Socket[] = [];
    const frozen = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1');
    await once(frozen, 'listening');
    const url = `postgres://u:p@127.0.0.1:${(frozen.address() as AddressInfo).port}/d`;
    try {
      await expect(openDatabase(url, 'spec', 1, { connectMs: 200, migrates })).rejects.toThrow(Outage);
      expect(accepted).toHaveLength(1);
    } finally {
      accepted.forEach((socket) => socket.destroy());
      frozen.close();
    }
  },
);

it('a starting process waits without a time limit while another process migrates the tables', async () => {
  const other = database.createQueryRunner();
  await other.query('SELECT pg_advisory_lock(7210418)');
  const opening = openDatabase(stores.databaseUrl, 'late', 2, { statementMs: WITHIN_MS });
  await until('the start waits longer than a statement can take', async () => {
    const waiting: unknown[] = await database.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'earshot-late' AND wait_event = 'advisory'
         AND query_start < now() - make_interval(secs => $1)`,
      [(2 * WITHIN_MS) / 1000],
    );
    return waiting.length > 0;
  });
  await other.query('SELECT pg_advisory_unlock(7210418)');
  await other.release();
  await (await opening).destroy();
});

describe('a release whose tables a newer release has changed', () => {
  const applied = (name: string) =>
    database.query('INSERT INTO migrations (timestamp, name) VALUES (1999999999999, $1)', [name]);
  const open = (migrates: boolean) => openDatabase(stores.databaseUrl, 'older', 1, { migrates });
  afterEach(() => database.query('DELETE FROM migrations WHERE timestamp = 1999999999999'));

  it.each([true, false])(
    'starts if older releases can work with the change (migrates: %s)',
    async (migrates) => {
      await applied('MoreColumns1999999999999');
      await (await open(migrates)).destroy();
    },
  );

  it.each([true, false])(
    'refuses to start if older releases cannot work with the change, and says what to do (migrates: %s)',
    async (migrates) => {
      await applied('IncompatibleKeys1999999999999');
      await expect(open(migrates)).rejects.toThrow(
        'a newer release has changed the tables (IncompatibleKeys1999999999999), and this release cannot work with them; start the newer release, or restore the backup',
      );
    },
  );

  it('runs no migration of its own if it refuses to start', async () => {
    await applied('IncompatibleKeys1999999999999');
    const [last] = await database.query<{ name: string; timestamp: number }[]>(
      'SELECT name, timestamp FROM migrations WHERE timestamp < 1999999999999 ORDER BY id DESC LIMIT 1',
    );
    const names = (): Promise<unknown> => database.query('SELECT name FROM migrations ORDER BY id');
    await database.query('DELETE FROM migrations WHERE name = $1', [last?.name]);
    const before = await names();
    await expect(open(true)).rejects.toThrow('a newer release has changed the tables');
    expect(await names()).toEqual(before);
    await database.query('INSERT INTO migrations (timestamp, name) VALUES ($1, $2)', [
      last?.timestamp,
      last?.name,
    ]);
  });
});

describe('a statement that is run often', () => {
  const text = 'SELECT t.n + $1::int AS n FROM often t';
  const run = async () => {
    const rows: { n: number }[] = await database.query(text, [1]);
    return rows.map(({ n }) => n);
  };

  it('is prepared, and still runs after its table was replaced or got a new column', async () => {
    await database.query('CREATE TABLE often (n int); INSERT INTO often VALUES (1)');
    for (let n = 0; n < 50; n += 1) expect(await run()).toEqual([2]);
    const prepared: unknown[] = await database.query(
      'SELECT 1 FROM pg_prepared_statements WHERE statement = $1',
      [text],
    );
    expect(prepared.length).toBe(1);
    await database.query('ALTER TABLE often ADD COLUMN more text');
    expect(await run()).toEqual([2]);
    await database.transaction(async (tx) => {
      await tx.query(
        'CREATE SCHEMA beside; CREATE TABLE beside.often (n int); INSERT INTO beside.often VALUES (10)',
      );
      await tx.query(`SET LOCAL search_path = beside, public`);
      for (let n = 0; n < 10; n += 1) expect(await tx.query(text, [1])).toEqual([{ n: 11 }]);
      await tx.query(
        'DROP TABLE public.often; ALTER TABLE beside.often SET SCHEMA public; DROP SCHEMA beside',
      );
    });
    expect(await run()).toEqual([11]);
  });
});
