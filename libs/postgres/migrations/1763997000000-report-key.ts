import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The key with which analysis signs the addresses of reports. */
export class ReportKey1763997000000 implements MigrationInterface {
  readonly name = 'ReportKey1763997000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Derived from MASTER_KEY. A service that has MASTER_KEY stores it when it starts. Null before the first such
      -- start. It is not encrypted, because a reader of this table can also read the reports.
      ALTER TABLE installation ADD COLUMN report_key text;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE installation DROP COLUMN report_key');
  }
}
