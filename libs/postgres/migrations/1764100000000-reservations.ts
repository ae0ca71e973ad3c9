import type { MigrationInterface, QueryRunner } from 'typeorm';
import { grantsLike } from './schedule-tables.js';

/**
 * Renames the table `credit_holds` to `credit_reservations`, because its rows are called reservations everywhere else.
 */
export class Reservations1764100000000 implements MigrationInterface {
  readonly name = 'Reservations1764100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE credit_holds RENAME TO credit_reservations;
      ALTER TABLE credit_reservations RENAME COLUMN hold_id TO reservation_id;
      ALTER INDEX credit_holds_pkey RENAME TO credit_reservations_pkey;
      ALTER INDEX credit_holds_account RENAME TO credit_reservations_account;
      ALTER INDEX credit_holds_expiry RENAME TO credit_reservations_expiry;
      ALTER INDEX credit_holds_done RENAME TO credit_reservations_done;
      -- Replicas of the release before this one reserve through the old names until they are replaced. A later release
      -- can drop the view.
      CREATE VIEW credit_holds AS SELECT reservation_id AS hold_id, account_id, amount, expires_at, done_at, holder
        FROM credit_reservations;
    `);
    await runner.query(grantsLike('credit_reservations', 'credit_holds'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP VIEW credit_holds;
      ALTER INDEX credit_reservations_done RENAME TO credit_holds_done;
      ALTER INDEX credit_reservations_expiry RENAME TO credit_holds_expiry;
      ALTER INDEX credit_reservations_account RENAME TO credit_holds_account;
      ALTER INDEX credit_reservations_pkey RENAME TO credit_holds_pkey;
      ALTER TABLE credit_reservations RENAME COLUMN reservation_id TO hold_id;
      ALTER TABLE credit_reservations RENAME TO credit_holds;
    `);
  }
}
