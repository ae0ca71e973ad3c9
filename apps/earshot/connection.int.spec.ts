import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { connectBus } from '#messaging';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { asNobody, isolateStores, programEnv, type IsolatedStores } from '#testing';
import { findInstallation, openBus, openInstalledClickHouse, openInstalledDatabase } from './connection.js';

let stores: IsolatedStores;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  stores = await isolateStores();
  env = programEnv(stores);
});
afterEach(() => stores?.drop());

/** Returns the rows of a statement, without the code that opens Earshot's tables. */
async function rowsOf(text: string): Promise<unknown[]> {
  const client = new pg.Client(stores.databaseUrl);
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows as unknown[];
}

describe('the command line', () => {
  it('reads the file of the installation only if one of the three addresses is not set', () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'connection-'));
    chmodSync(dataDir, 0o755);
    writeFileSync(join(dataDir, 'runtime.json'), '{}', { mode: 0 });
    const find = (more: NodeJS.ProcessEnv) =>
      asNobody(() => findInstallation({ ...env, DATA_DIR: dataDir, ...more }));
    try {
      expect(find({})).toEqual({
        natsUrl: stores.natsUrl,
        databaseUrl: stores.databaseUrl,
        clickhouseUrl: stores.clickhouseUrl,
      });
      for (const name of ['NATS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL'])
        expect(() => find({ [name]: '' })).toThrow('runtime.json cannot be read by this user');
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('creates no tables in a database of another application, and says what to do', async () => {
    await rowsOf('DROP SCHEMA public CASCADE');
    await rowsOf('CREATE SCHEMA public');
    await expect(openInstalledDatabase(env)).rejects.toThrow(
      /Postgres.*\(DATABASE_URL\): Error: this database has no tables of Earshot; check its address/,
    );
    expect(await rowsOf(`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  });

  it('does not change the tables of an older release', async () => {
    const database = await openDatabase(stores.databaseUrl, 'spec');
    await (await openInstalledDatabase(env)).destroy();
    await database.query('DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations)');
    const before = await rowsOf('SELECT name FROM migrations ORDER BY name');
    await expect(openInstalledDatabase(env)).rejects.toThrow('older than this command line');
    expect(await rowsOf('SELECT name FROM migrations ORDER BY name')).toEqual(before);
    await database.destroy();
  });

  it('creates no streams, and names the missing ones', async () => {
    const nc = await connect({ servers: stores.natsUrl });
    const jsm = await jetstreamManager(nc);
    await expect(openBus(env)).rejects.toThrow(/NATS.*\(NATS_URL\).*lacks streams of Earshot \(KEYWORDS,/);
    expect(await jsm.streams.list().next()).toEqual([]);
    await nc.close();
    await (await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'))).close();
    await (await openBus(env)).close();
  });

  it('creates no tables in ClickHouse', async () => {
    const client = createClient({ url: stores.clickhouseUrl });
    const tables = async () => {
      const query = 'SELECT name FROM system.tables WHERE database = currentDatabase()';
      const answer = await client.query({ query, format: 'JSONEachRow' });
      return (await answer.json<{ name: string }>()).map(({ name }) => name);
    };
    for (const name of await tables()) await client.command({ query: `DROP TABLE ${name} SYNC` });
    await expect(openInstalledClickHouse(env)).rejects.toThrow(/ClickHouse.*\(CLICKHOUSE_URL\).*no tables/);
    expect(await tables()).toEqual([]);
    await client.close();
  });
});
