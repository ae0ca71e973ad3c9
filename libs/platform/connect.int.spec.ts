import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf } from '#messaging';
import { openDatabase } from '#postgres';
import { reportKeys, SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores, until } from '#testing';
import { closePlatform, connectPlatform } from './connect.js';
import { checkMasterKey, isOnlyKey, renewKeyCheck, sharedReportKey, shareReportKey } from './master-key.js';
import type { Platform } from './platform.js';

const log = createLogger('test', 'silent');
let stores: IsolatedStores;

beforeAll(async () => {
  stores = await isolateStores();
});

afterAll(() => stores.drop());

it('an unreachable NATS is reported in one line, after the connection to Postgres is closed', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const settings = {
    NATS_URL: `nats://127.0.0.1:${port}`,
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    STREAM_REPLICAS: 1,
  };
  const error = (await connectPlatform('lonely', settings, log).catch((reason: unknown) => reason)) as Error;
  expect(error.message).toMatch(/^NATS could not be reached or prepared \(NATS_URL\): [^\n]+$/);
  const database = await openDatabase(stores.databaseUrl, 'look');
  const open: unknown[] = await database.query(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'earshot-lonely'`,
  );
  expect(open).toEqual([]);
  await database.destroy();
});

it.each([
  ['has no such database', 'a_missing_database', ''],
  ['refuses the password', '', 'wrong'],
])('a start fails if ClickHouse %s', async (_, database, password) => {
  const url = new URL(stores.clickhouseUrl);
  if (database) url.pathname = `/${database}`;
  if (password) url.password = password;
  const settings = {
    NATS_URL: stores.natsUrl,
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: url.href,
    STREAM_REPLICAS: 1,
  };
  await expect(connectPlatform('refused', settings, log)).rejects.toThrow(
    'ClickHouse could not be reached or prepared (CLICKHOUSE_URL)',
  );
});

it('a start reports that it waits for a transaction of Postgres, and continues when this transaction has ended', async () => {
  const database = await openDatabase(stores.databaseUrl, 'holder');
  const holder = database.createQueryRunner();
  await holder.startTransaction();
  await holder.query('LOCK TABLE migrations');
  const settings = {
    NATS_URL: stores.natsUrl,
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    STREAM_REPLICAS: 1,
  };
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const opening = connectPlatform('waiting', settings, createLogger('waiting', 'warn', undefined, { write }));
  await until('the wait is reported', () =>
    Promise.resolve(lines.some((line) => line.includes('the start waits for Postgres'))),
  );
  await holder.rollbackTransaction();
  await closePlatform(await opening);
  await database.destroy();
}, 20_000);

async function platform(): Promise<
  Pick<Platform, 'bus' | 'store' | 'database'> & { close(): Promise<void> }
> {
  const database = await openDatabase(stores.databaseUrl, 'keys');
  const bus = await connectBus(stores.natsUrl, 'keys', createLogger('keys', 'silent'));
  const close = async () => {
    await database.destroy();
    await bus.close();
  };
  return { database, bus, store: new EventStore(bus), close };
}

it('a start is refused if MASTER_KEY does not contain the key of the first start', async () => {
  const { close, ...connections } = await platform();
  await checkMasterKey(connections, 'aa'.repeat(32));
  await checkMasterKey(connections, 'aa'.repeat(32));
  await checkMasterKey(connections, `${'cc'.repeat(32)},${'aa'.repeat(32)}`);
  await expect(checkMasterKey(connections, 'bb'.repeat(32))).rejects.toThrow(
    "MASTER_KEY: is not the key that this installation's secrets were encrypted with",
  );
  await close();
});

it('the key of report addresses is derived from the present MASTER_KEY, and differs from it', async () => {
  const { close, database, ...connections } = await platform();
  const [first, second] = ['aa'.repeat(32), 'cc'.repeat(32)] as const;
  await checkMasterKey({ database, ...connections }, first);
  expect(await sharedReportKey(database)).toBeUndefined();
  await shareReportKey(database, first);
  expect(await sharedReportKey(database)).toBe(reportKeys(first));
  expect(reportKeys(first)).not.toBe(first);
  await shareReportKey(database, `${second},${first}`);
  expect(await sharedReportKey(database)).toBe(reportKeys(second));
  await close();
});

it('the MASTER_KEY is checked against the streams if Postgres was lost', async () => {
  const { close, ...connections } = await platform();
  await connections.database.query('DELETE FROM installation');
  const signingSecretEncrypted = new SecretBox('aa'.repeat(32)).seal('whsec_x');
  const events = [
    {
      event: {
        case: 'accountOpened' as const,
        value: { email: 'a@b.c', plan: 'free', signingSecretEncrypted },
      },
    },
  ];
  const decision = create(AccountDecisionSchema, { commandId: newId(), accountId: newId(), events });
  const data = toBinary(AccountDecisionSchema, decision);
  await connections.store.append(subjectOf('ACCOUNTS', decision.accountId), data, 0, decision.commandId);
  await expect(checkMasterKey(connections, 'bb'.repeat(32))).rejects.toThrow('Put the right key back');
  await checkMasterKey(connections, 'aa'.repeat(32));
  await close();
});

it('the old MASTER_KEY is needed until all secrets of accounts and channels are encrypted with the new key', async () => {
  const { close, ...connections } = await platform();
  const { database } = connections;
  const [earlier, present] = ['aa'.repeat(32), 'cc'.repeat(32)] as const;
  await checkMasterKey(connections, earlier);
  const [ofEarlier, ofPresent] = [earlier, present].map((key) => new SecretBox(key).seal('s'));
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
     VALUES ($1, 'a@example.org', 'free', $2, now())`,
    [newId(), ofEarlier],
  );
  await database.query(
    `INSERT INTO channels (channel_id, account_id, kind, name, state, config, secret_encrypted, addresses, created_at, updated_at)
     VALUES ($1, $1, 'slack', 'alerts', 'active', '{}', $2, '{}', now(), now())`,
    [newId(), ofEarlier],
  );
  const isFinished = async () => {
    await renewKeyCheck(database, new SecretBox(`${present},${earlier}`));
    return isOnlyKey(database, present);
  };
  expect(await isFinished()).toBe(false);
  await database.query('UPDATE accounts SET signing_secret_encrypted = $1', [ofPresent]);
  expect(await isFinished()).toBe(false);
  await database.query('UPDATE channels SET secret_encrypted = $1', [ofPresent]);
  expect(await isFinished()).toBe(true);
  await close();
});
