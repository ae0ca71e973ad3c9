import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { connect } from '@nats-io/transport-node';
import { DataSource } from 'typeorm';
import { findNatsServer, freePort } from '#embedded';
import { until } from './until.js';

/** The addresses of three stores that are not shared. */
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
}

/**
 * Starts a separate NATS server, and creates a new Postgres database and a new ClickHouse database on the shared
 * servers.
 */
export async function isolateStores(): Promise<IsolatedStores> {
  const shared = sharedStores();
  const name = `spec_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  const [nats, databaseUrl, clickhouseUrl] = await Promise.all([
    startNats(),
    createDatabase(shared.databaseUrl, name),
    createClickHouseDatabase(shared.clickhouseUrl, name),
  ]);
  return {
    natsUrl: nats.url,
    natsDirectory: nats.directory,
    databaseUrl,
    clickhouseUrl,
    async drop() {
      await nats.stop();
      // Postgres refuses while its autovacuum processes the database.
      await until('the database is dropped', async () => {
        await onPostgres(shared.databaseUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
        return true;
      });
      await onClickHouse(shared.clickhouseUrl, `DROP DATABASE ${name}`);
    },
  };
}

/** The shared servers, from the environment that the global setup has written. */
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

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await onPostgres(serverUrl, `CREATE DATABASE "${name}"`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function onPostgres(url: string, statement: string): Promise<void> {
  const server = await new DataSource({ type: 'postgres', url }).initialize();
  try {
    await server.query(statement);
  } finally {
    await server.destroy();
  }
}

async function createClickHouseDatabase(serverUrl: string, name: string): Promise<string> {
  await onClickHouse(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function onClickHouse(url: string, query: string): Promise<void> {
  const client = createClient({ url });
  await client.command({ query });
  await client.close();
}
