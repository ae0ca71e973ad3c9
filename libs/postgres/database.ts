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

/** A service's connections to Postgres. */
export type Database = DataSource;
/** A transaction, or the database outside of one. */
export type Tx = EntityManager;

/** Any constant: the lock that lets one service at a time bring the tables up to date. */
const MIGRATION_LOCK = 7_210_418;

/**
 * Connects and brings the tables up to date; services that start at once wait for each other.
 * @param url `postgres://user:password@host:port/database`
 * @param poolSize at least 2: one connection holds the lock while another changes the tables
 */
export async function openDatabase(url: string, name: string, poolSize = 8): Promise<Database> {
  const database = new DataSource({
    type: 'postgres',
    url,
    applicationName: `earshot-${name}`,
    entities: [AccountEntity, ApiKeyEntity, KeywordEntity, WatchEntity],
    migrations: [
      First1763600000000,
      UpstreamHealth1763700000000,
      KeywordLife1763800000000,
      Credits1763810000000,
      Requests1763820000000,
      Claims1763830000000,
    ],
    migrationsTransactionMode: 'each',
    // Numbers that Postgres hands out as text stay text unless a query casts them: a sequence fits a double.
    parseInt8: true,
    poolSize,
  });
  await database.initialize();
  const lock = database.createQueryRunner();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await database.runMigrations();
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await lock.release();
  }
  return database;
}

/** Holds the account's lock until the transaction ends: commands of one account are decided one after another. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [accountId]);
}
