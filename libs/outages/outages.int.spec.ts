import { openClickHouse } from '#clickhouse';
import { freePort } from '#embedded';
import { connectBus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { isOutage } from './index.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 1);
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

it('isOutage is true after the server has ended a Postgres session', async () => {
  // A pool of its own: on a busy machine, a later statement could get the connection of the ended session.
  const ending = await openDatabase(stores.databaseUrl, 'spec', 1);
  const error = await failureOf(ending.query('SELECT pg_terminate_backend(pg_backend_pid())'));
  expect(isOutage(error)).toBe(true);
  await ending.destroy();
});

it('isOutage is true for an unreachable Postgres', async () => {
  const url = new URL(stores.databaseUrl);
  url.port = String(await freePort());
  expect(isOutage(await failureOf(openDatabase(url.href, 'spec')))).toBe(true);
});

it('isOutage is true for an unreachable ClickHouse', async () => {
  const error = await failureOf(openClickHouse(`http://127.0.0.1:${await freePort()}`, 'spec'));
  expect(isOutage(error)).toBe(true);
});

it('isOutage is true for a publish that no stream answers', async () => {
  const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  const error = await failureOf(bus.js.publish('without.stream', new Uint8Array()));
  expect(isOutage(error)).toBe(true);
  await bus.close();
});

it('isOutage is false for a statement that Postgres or ClickHouse refuses', async () => {
  expect(isOutage(await failureOf(database.query('SELECT timeout')))).toBe(false);
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  expect(isOutage(await failureOf(clickhouse.query({ query: 'SELECT timeout' })))).toBe(false);
  await clickhouse.close();
});
