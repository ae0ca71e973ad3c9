import { resolve } from 'node:path';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { readSettings } from '#config';
import { readRuntime } from '#embedded';
import { connectBus, type Bus } from '#messaging';
import { unreachable } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';

/** The addresses that the command line uses to reach the installation. */
export interface Addresses {
  natsUrl: string;
  databaseUrl: string;
}

/** The addresses for commands that use the read models: they include the address of ClickHouse. */
export interface AllAddresses extends Addresses {
  /** Empty if the address is not known. */
  clickhouseUrl: string;
}

/**
 * Finds the addresses of the running installation in NATS_URL, DATABASE_URL and CLICKHOUSE_URL. An address that is not
 * set is read from the file that the installation writes to DATA_DIR (a demo writes the file to the folder `demo`). If
 * all three are set, the file is not read, because this user is possibly not allowed to read it.
 * @throws Error that says how to start an installation; Error if an address is not set and this user is not allowed to
 *   read the file
 */
export function findInstallation(env: NodeJS.ProcessEnv): AllAddresses {
  const settings = readSettings(['DATA_DIR', 'NATS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL'], env);
  const dataDir = resolve(settings.DATA_DIR);
  const isComplete = settings.NATS_URL && settings.DATABASE_URL && settings.CLICKHOUSE_URL;
  const runtime = isComplete ? undefined : (readRuntime(dataDir) ?? readRuntime(resolve(dataDir, 'demo')));
  const natsUrl = settings.NATS_URL || runtime?.natsUrl;
  const databaseUrl = settings.DATABASE_URL || runtime?.databaseUrl;
  if (!natsUrl || !databaseUrl)
    throw new Error(
      `No running Earshot was found (looked in ${dataDir}). Start one with npm start, or set DATA_DIR, or NATS_URL and DATABASE_URL.`,
    );
  return { natsUrl, databaseUrl, clickhouseUrl: settings.CLICKHOUSE_URL || (runtime?.clickhouseUrl ?? '') };
}

/**
 * Without a limit, a command would wait endlessly for a Postgres that accepts connections but does not answer. The
 * clients of the other stores have such limits.
 */
const CONNECT_WITHIN_MS = 10_000;

// A command creates no tables and no streams: its address can be wrong, and a newer release must not change the tables of
// running services.

/** Connects to the installation's NATS. @throws Error with one line that names NATS and its setting */
export async function openBus(env: NodeJS.ProcessEnv): Promise<Bus> {
  const { STREAM_REPLICAS } = readSettings(['STREAM_REPLICAS'], env);
  const { natsUrl } = findInstallation(env);
  const log = createLogger('cli', 'silent');
  return connectBus(natsUrl, 'cli', log, STREAM_REPLICAS, { createsStreams: false }).catch(
    unreachable('NATS_URL', 'NATS'),
  );
}

/** Runs the work with a connection to the installation's NATS. */
export async function withBus<T>(env: NodeJS.ProcessEnv, work: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await openBus(env);
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}

/** Connects to the installation's Postgres. @throws Error with one line that names Postgres and its setting */
export async function openInstalledDatabase(env: NodeJS.ProcessEnv): Promise<Database> {
  const { databaseUrl } = findInstallation(env);
  return openDatabase(databaseUrl, 'cli', 2, { connectMs: CONNECT_WITHIN_MS, migrates: false }).catch(
    unreachable('DATABASE_URL', 'Postgres'),
  );
}

/** Runs the work with a connection to the installation's Postgres. */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openInstalledDatabase(env);
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/**
 * Connects to the installation's ClickHouse.
 * @throws Error if the address is unknown; Error with one line that names ClickHouse and its setting
 */
export async function openInstalledClickHouse(env: NodeJS.ProcessEnv): Promise<ClickHouseClient> {
  const { clickhouseUrl } = findInstallation(env);
  if (!clickhouseUrl) throw new Error('Set CLICKHOUSE_URL in addition to NATS_URL and DATABASE_URL.');
  return openClickHouse(clickhouseUrl, 'cli', { createsTables: false }).catch(
    unreachable('CLICKHOUSE_URL', 'ClickHouse'),
  );
}

/** Runs the work with a connection to the installation's ClickHouse. */
export async function withClickHouse<T>(
  env: NodeJS.ProcessEnv,
  work: (clickhouse: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const clickhouse = await openInstalledClickHouse(env);
  try {
    return await work(clickhouse);
  } finally {
    await clickhouse.close();
  }
}
