import 'reflect-metadata';
import { DataSource, type EntityManager } from 'typeorm';
import { AccountEntity, ApiKeyEntity } from './entities/account.entity.js';
import { KeywordEntity, WatchEntity } from './entities/keyword.entity.js';
import { First1763600000000 } from './migrations/1763600000000-first.js';
import { UpstreamHealth1763700000000 } from './migrations/1763700000000-upstream-health.js';
import { KeywordLife1763800000000 } from './migrations/1763800000000-keyword-life.js';
import { Credits1763810000000 } from './migrations/1763810000000-credits.js';
import { Requests1763820000000 } from './migrations/1763820000000-requests.js';
import { Claims1763830000000 } from './migrations/1763830000000-claims.js';
import { Signatures1763840000000 } from './migrations/1763840000000-signatures.js';
import { Targets1763850000000 } from './migrations/1763850000000-targets.js';
import { AccountSettings1763860000000 } from './migrations/1763860000000-account-settings.js';
import { Labels1763870000000 } from './migrations/1763870000000-labels.js';
import { KeyUses1763880000000 } from './migrations/1763880000000-key-uses.js';
import { ProjectionVersions1763890000000 } from './migrations/1763890000000-projection-versions.js';
import { Traces1763895000000 } from './migrations/1763895000000-traces.js';
import { CompactSchedule1763900000000 } from './migrations/1763900000000-compact-schedule.js';
import { pgDriver } from './telling-pool.js';

/** A service's connections to Postgres. */
export type Database = DataSource;
/** A transaction, or the database outside of one. */
export type Tx = EntityManager;

/** Any constant: the lock that lets one service at a time bring the tables up to date. */
const MIGRATION_LOCK = 7_210_418;

/** No query of ours takes near as long: one that does waits for a lock that nobody gives free, or should not be. */
const STATEMENT_WITHIN_MS = 60_000;
const KEEP_ALIVE_SECONDS = 30;
/** The server's side: a session whose host has gone without a word gives its locks free within a minute, not in hours. */
const SERVER_KEEP_ALIVE = `-c tcp_keepalives_idle=${KEEP_ALIVE_SECONDS} -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3`;

/**
 * Connects and brings the tables up to date; services that start at once wait for each other.
 * @param url `postgres://user:password@host:port/database`
 * @param statementWithinMs a statement that takes longer fails with 57014, in ms
 */
export async function openDatabase(
  url: string,
  name: string,
  poolSize = 8,
  statementWithinMs = STATEMENT_WITHIN_MS,
): Promise<Database> {
  await migrate(url, name);
  const database = new DataSource({
    type: 'postgres',
    driver: pgDriver,
    url,
    applicationName: `earshot-${name}`,
    entities: [AccountEntity, ApiKeyEntity, KeywordEntity, WatchEntity],
    // Numbers that Postgres hands out as text stay text unless a query casts them: a sequence fits a double.
    parseInt8: true,
    poolSize,
    extra: {
      statement_timeout: statementWithinMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_SECONDS * 1000,
      options: SERVER_KEEP_ALIVE,
    },
  });
  return database.initialize();
}

/** On connections of its own, which have no limit: a change of a large table takes its time, and so does waiting for it. */
async function migrate(url: string, name: string): Promise<void> {
  const database = new DataSource({
    type: 'postgres',
    driver: pgDriver,
    url,
    applicationName: `earshot-${name}`,
    migrations: [
      First1763600000000,
      UpstreamHealth1763700000000,
      KeywordLife1763800000000,
      Credits1763810000000,
      Requests1763820000000,
      Claims1763830000000,
      Signatures1763840000000,
      Targets1763850000000,
      AccountSettings1763860000000,
      Labels1763870000000,
      KeyUses1763880000000,
      ProjectionVersions1763890000000,
      Traces1763895000000,
      CompactSchedule1763900000000,
    ],
    migrationsTransactionMode: 'each',
    parseInt8: true,
    // One holds the lock while the other changes the tables.
    poolSize: 2,
  });
  await database.initialize();
  try {
    const lock = database.createQueryRunner();
    try {
      await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await database.runMigrations();
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await lock.release();
    }
  } finally {
    await database.destroy();
  }
}

/** A transaction whose statements may take as long as they need: for a delete of all that there is of something. */
export function transactionWithoutLimit<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    return work(tx);
  });
}

/** Holds the account's lock until the transaction ends: commands of one account are decided one after another. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [accountId]);
}
