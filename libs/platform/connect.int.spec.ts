import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { connectPlatform } from './connect.js';
import { checkMasterKey } from './master-key.js';

const log = createLogger('test', 'silent');
let stores: IsolatedStores;

beforeAll(async () => {
  stores = await isolateStores(inject('stores'));
});

afterAll(() => stores.drop());

it('a store that cannot be reached is told in one line, when the other connections are closed again', async () => {
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

it('a start with another MASTER_KEY than the first is refused', async () => {
  const database = await openDatabase(stores.databaseUrl, 'keys');
  await checkMasterKey(database, 'aa'.repeat(32));
  await checkMasterKey(database, 'aa'.repeat(32));
  await expect(checkMasterKey(database, 'bb'.repeat(32))).rejects.toThrow(
    "MASTER_KEY: is not the key that this installation's secrets were sealed with",
  );
  await database.destroy();
});
