import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The key with which analysis signs the addresses of reports. */
export class ReportKey1763997000000 implements MigrationInterface {
  readonly name = 'ReportKey1763997000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Derived from MASTER_KEY, and written by each start of a service that has it. Null before the first of them.
      -- A reader of this table can read the reports themselves.
      ALTER TABLE installation ADD COLUMN report_key text;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE installation DROP COLUMN report_key');
  }
}
