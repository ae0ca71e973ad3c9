import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { connect } from '@nats-io/transport-node';
import { DataSource } from 'typeorm';
import { openClickHouse } from '#clickhouse';
import { findNatsServer, freePort } from '#embedded';
import { openDatabase } from '#postgres';
import { until } from './until.js';

/** The addresses of a NATS server and of two databases that only one spec uses. */
export interface IsolatedStores {
  natsUrl: string;
  /** The directory in which NATS keeps its streams. */
  natsDirectory: string;
  databaseUrl: string;
  clickhouseUrl: string;
  /** Stops the NATS server and drops both databases. */
  drop(): Promise<void>;
}

/** Servers that all specs of a run share. */
export interface SharedStores {
  databaseUrl: string;
  clickhouseUrl: string;
  /** A Postgres database and a ClickHouse database with this name have the tables of this version, without rows. */
  template: string;
}

/**
 * Creates the databases of which each spec gets a copy: running all migrations again takes several times as long.
 * @param servers the addresses of Postgres and ClickHouse
 */
export async function createTemplate(servers: Omit<SharedStores, 'template'>): Promise<SharedStores> {
  const template = `spec_${process.pid}_template`;
  const [databaseUrl, clickhouseUrl] = await Promise.all([
    createDatabase(servers.databaseUrl, template, 'template1'),
    createClickHouseDatabase(servers.clickhouseUrl, template),
  ]);
  const [database, clickhouse] = await Promise.all([
    openDatabase(databaseUrl, 'spec', 1),
    openClickHouse(clickhouseUrl, 'spec'),
  ]);
  await Promise.all([database.destroy(), clickhouse.close()]);
  return { ...servers, template };
}

/** Drops the databases of `createTemplate`. */
export async function dropTemplate({ databaseUrl, clickhouseUrl, template }: SharedStores): Promise<void> {
  await onPostgres(databaseUrl, `DROP DATABASE "${template}"`);
  await onClickHouse(clickhouseUrl, [`DROP DATABASE ${template}`]);
}

/**
 * Starts a separate NATS server, and creates a new Postgres database and a new ClickHouse database on the shared
 * servers. Both have the tables of this version.
 */
export async function isolateStores(): Promise<IsolatedStores> {
  const shared = sharedStores();
  const name = `spec_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  const [nats, databaseUrl, clickhouseUrl] = await Promise.all([
    startNats(),
    createDatabase(shared.databaseUrl, name, shared.template),
    createClickHouseDatabase(shared.clickhouseUrl, name, shared.template),
  ]);
  return {
    natsUrl: nats.url,
    natsDirectory: nats.directory,
    databaseUrl,
    clickhouseUrl,
    async drop() {
      await nats.stop();
      // Postgres refuses to drop a database while its autovacuum processes the database.
      await until('the database is dropped', async () => {
        await onPostgres(shared.databaseUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
        return true;
      });
      await onClickHouse(shared.clickhouseUrl, [`DROP DATABASE ${name}`]);
    },
  };
}

/** Returns the shared servers, from the environment that the global setup has written. */
function sharedStores(): SharedStores {
  const stores = process.env['SPEC_STORES'];
  if (stores === undefined) throw new Error('SPEC_STORES is missing: specs run under jest');
  return JSON.parse(stores) as SharedStores;
}

async function startNats(): Promise<{ url: string; directory: string; stop(): Promise<void> }> {
  const program = findNatsServer();
  if (!program) throw new Error('nats-server was not found; npm test installs it');
  const directory = mkdtempSync(join(tmpdir(), 'earshot-nats-'));
  const port = await freePort();
  const child = spawn(program, ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory], {
    stdio: 'ignore',
  });
  const url = `nats://127.0.0.1:${port}`;
  const connection = await connect({
    servers: url,
    waitOnFirstConnect: true,
    reconnectTimeWait: 20,
    maxReconnectAttempts: 250,
  });
  await connection.close();
  return {
    url,
    directory,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function createDatabase(serverUrl: string, name: string, template: string): Promise<string> {
  // The default strategy writes each page into the write-ahead log, which takes a quarter of a second of processor
  // time.
  await onPostgres(serverUrl, `CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY FILE_COPY`);
  return addressOf(serverUrl, name);
}

async function onPostgres(url: string, statement: string): Promise<void> {
  const server = await new DataSource({ type: 'postgres', url }).initialize();
  try {
    await server.query(statement);
  } finally {
    await server.destroy();
  }
}

/** Creates a database. @param template its tables are copied, with the list of the statements that made them */
async function createClickHouseDatabase(serverUrl: string, name: string, template?: string): Promise<string> {
  await onClickHouse(serverUrl, [`CREATE DATABASE ${name}`]);
  if (template) {
    const tables = await clickHouseTables(serverUrl, template);
    await onClickHouse(serverUrl, [
      ...tables.map((query) => query.replace(`CREATE TABLE ${template}.`, `CREATE TABLE ${name}.`)),
      `INSERT INTO ${name}.table_versions SELECT * FROM ${template}.table_versions`,
    ]);
  }
  return addressOf(serverUrl, name);
}

let clickHouseStatements: string[] | undefined;

async function clickHouseTables(url: string, database: string): Promise<string[]> {
  if (clickHouseStatements) return clickHouseStatements;
  const client = createClient({ url });
  const query =
    'SELECT create_table_query AS statement FROM system.tables WHERE database = {database: String}';
  const result = await client.query({ query, query_params: { database }, format: 'JSONEachRow' });
  clickHouseStatements = (await result.json<{ statement: string }>()).map(({ statement }) => statement);
  await client.close();
  return clickHouseStatements;
}

async function onClickHouse(url: string, statements: readonly string[]): Promise<void> {
  const client = createClient({ url });
  for (const query of statements) await client.command({ query });
  await client.close();
}

function addressOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
