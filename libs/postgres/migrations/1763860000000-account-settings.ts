import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The name of an account, and the time zone in which its days begin. */
export class AccountSettings1763860000000 implements MigrationInterface {
  readonly name = 'AccountSettings1763860000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        -- Empty: no name.
        ADD COLUMN name text NOT NULL DEFAULT '',
        -- IANA time zone.
        ADD COLUMN timezone text NOT NULL DEFAULT 'UTC';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE accounts DROP COLUMN name, DROP COLUMN timezone');
  }
}
