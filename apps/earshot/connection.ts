import { resolve } from 'node:path';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { readSettings } from '#config';
import { readRuntime } from '#embedded';
import { connectBus, type Bus } from '#messaging';
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
 * set is read from the file that the installation writes to DATA_DIR (a demo writes the file to the folder `demo`).
 * @throws Error that says how to start an installation
 */
export function findInstallation(env: NodeJS.ProcessEnv): AllAddresses {
  const settings = readSettings(['DATA_DIR', 'NATS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL'], env);
  const dataDir = resolve(settings.DATA_DIR);
  const runtime = readRuntime(dataDir) ?? readRuntime(resolve(dataDir, 'demo'));
  const natsUrl = settings.NATS_URL || runtime?.natsUrl;
  const databaseUrl = settings.DATABASE_URL || runtime?.databaseUrl;
  if (!natsUrl || !databaseUrl)
    throw new Error(
      `No running Earshot was found (looked in ${dataDir}). Start one with npm start, or set DATA_DIR, or NATS_URL and DATABASE_URL.`,
    );
  return { natsUrl, databaseUrl, clickhouseUrl: settings.CLICKHOUSE_URL || (runtime?.clickhouseUrl ?? '') };
}

/** Runs the work with a connection to the installation's NATS. */
export async function withBus<T>(env: NodeJS.ProcessEnv, work: (bus: Bus) => Promise<T>): Promise<T> {
  const { STREAM_REPLICAS } = readSettings(['STREAM_REPLICAS'], env);
  const log = createLogger('cli', 'silent');
  const bus = await connectBus(findInstallation(env).natsUrl, 'cli', log, STREAM_REPLICAS);
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}

/** Runs the work with a connection to the installation's Postgres. */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(findInstallation(env).databaseUrl, 'cli', 2);
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/**
 * Runs the work with a connection to the installation's ClickHouse.
 * @throws Error if the address is unknown
 */
export async function withClickHouse<T>(
  env: NodeJS.ProcessEnv,
  work: (clickhouse: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const { clickhouseUrl } = findInstallation(env);
  if (!clickhouseUrl) throw new Error('Set CLICKHOUSE_URL in addition to NATS_URL and DATABASE_URL.');
  const clickhouse = await openClickHouse(clickhouseUrl, 'cli');
  try {
    return await work(clickhouse);
  } finally {
    await clickhouse.close();
  }
}
