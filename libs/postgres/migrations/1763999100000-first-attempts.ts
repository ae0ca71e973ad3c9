import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The deliveries that wait for their first attempt are found without those that have failed. */
export class FirstAttempts1763999100000 implements MigrationInterface {
  readonly name = 'FirstAttempts1763999100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Each event for a channel asks whether earlier ones wait. A channel that fails has 100,000 rows that do not count.
      CREATE INDEX pending_deliveries_unattempted ON pending_deliveries (account_id, endpoint) WHERE attempts = 0;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX pending_deliveries_unattempted');
  }
}
