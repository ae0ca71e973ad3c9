import { openClickHouse, openClickHouseLater, type ClickHouseClient } from '#clickhouse';
import { EventStore } from '#event-store';
import { Outage, settledWithin, unreachable } from '#kernel';
import { connectBus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { Platform } from './platform.js';

/**
 * How long connections can take to close. Without this limit, an unreachable server could delay the close endlessly.
 */
const CLOSING_MS = 500;

/** A start that waits for a store longer than this reports it. */
const SLOW_MS = 5000;

/** The addresses of the stores. */
export interface StoreAddresses {
  NATS_URL: string;
  DATABASE_URL: string;
  CLICKHOUSE_URL: string;
  STREAM_REPLICAS: number;
}

/**
 * Opens a service's connections, and creates missing streams and tables. ClickHouse can be unreachable.
 * @throws Error with one line that names the first failed store and its setting; the other connections are closed then
 */
export async function connectPlatform(
  name: string,
  settings: StoreAddresses,
  log: Logger,
): Promise<Platform> {
  const { NATS_URL, DATABASE_URL, CLICKHOUSE_URL, STREAM_REPLICAS } = settings;
  // Waits for all connections, even if one fails: a connection that is still opening cannot be closed.
  const [bus, database, clickhouse] = await Promise.allSettled([
    connectBus(NATS_URL, name, log, STREAM_REPLICAS).catch(unreachable('NATS_URL', 'NATS')),
    unlessSlow(openDatabase(DATABASE_URL, name), log).catch(unreachable('DATABASE_URL', 'Postgres')),
    clickHouseIfReachable(CLICKHOUSE_URL, name, log).catch(unreachable('CLICKHOUSE_URL', 'ClickHouse')),
  ]);
  if (bus.status === 'fulfilled' && database.status === 'fulfilled' && clickhouse.status === 'fulfilled')
    return {
      log,
      bus: bus.value,
      store: new EventStore(bus.value),
      database: database.value,
      clickhouse: clickhouse.value,
    };
  await settledWithin(
    CLOSING_MS,
    Promise.allSettled([
      bus.status === 'fulfilled' ? bus.value.close() : undefined,
      database.status === 'fulfilled' ? database.value.destroy() : undefined,
      clickhouse.status === 'fulfilled' ? clickhouse.value.close() : undefined,
    ]),
  );
  throw [bus, database, clickhouse].find((outcome) => outcome.status === 'rejected')?.reason as Error;
}

/**
 * Opens ClickHouse. If it cannot be reached, reports this, and opens it later, because webhooks can be sent and checks
 * can become events without ClickHouse.
 */
async function clickHouseIfReachable(url: string, name: string, log: Logger): Promise<ClickHouseClient> {
  try {
    return await openClickHouse(url, name);
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
    log.warn(
      { err: error },
      'ClickHouse cannot be reached (CLICKHOUSE_URL); the service starts without it, and work that needs it waits or fails until it can be reached',
    );
    return openClickHouseLater(url, name);
  }
}

/** Reports a Postgres that is not ready soon. Nothing limits the change of its tables, and it has no output. */
async function unlessSlow(opening: Promise<Database>, log: Logger): Promise<Database> {
  if (!(await settledWithin(SLOW_MS, opening)))
    log.warn(
      'the start waits for Postgres: it is starting, or its tables are being changed. A change waits until every transaction that uses the table has ended (pg_stat_activity)',
    );
  return opening;
}

/** Closes the connections that `connectPlatform` opened. Returns after 500 ms at the latest, and never throws. */
export async function closePlatform({ bus, database, clickhouse }: Platform): Promise<void> {
  await settledWithin(CLOSING_MS, Promise.allSettled([bus.close(), database.destroy(), clickhouse.close()]));
}
