import type { MigrationInterface, QueryRunner } from 'typeorm';
import { until } from '#testing';
import type { Database } from '../index.js';

/**
 * While a poller has claimed searches, runs a migration that copies the schedule. Fails if the migration does not wait
 * for the claim, or if a later claim does not wait for the migration. The tables need rows of searches and watches.
 */
export async function migrateBesideClaims(database: Database, migration: MigrationInterface): Promise<void> {
  const [migrating, claiming] = [database.createQueryRunner(), database.createQueryRunner()];
  await migration.down(migrating);

  // The statements of `claiming` are those of a claim: it locks the searches first, and then reads the schedule.
  await claiming.startTransaction();
  await claiming.query('UPDATE upstream_searches SET next_due_at = now()');
  await migrating.startTransaction();
  const migrated = migration.up(migrating);
  await until('the migration waits', () => isWaiting(database, migrating));
  await claiming.query('SELECT count(*) FROM watch_schedule');
  await claiming.commitTransaction();
  await migrated;

  const later = claiming.query('UPDATE upstream_searches SET next_due_at = now()');
  await until('a later claim waits', () => isWaiting(database, claiming));
  await migrating.commitTransaction();
  await later;
  await Promise.all([migrating.release(), claiming.release()]);
}

/** Returns whether the connection of a runner waits for a lock. */
async function isWaiting(database: Database, runner: QueryRunner): Promise<boolean> {
  const { processID } = (await runner.connect()) as { processID: number };
  const [row]: { waits: boolean }[] = await database.query(
    `SELECT wait_event_type = 'Lock' AS waits FROM pg_stat_activity WHERE pid = $1`,
    [processID],
  );
  return row?.waits === true;
}
