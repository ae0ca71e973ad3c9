import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index of the deliveries that wait for their first attempt, without those that wait for another attempt. */
export class FirstAttempts1763999100000 implements MigrationInterface {
  readonly name = 'FirstAttempts1763999100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- For each event of a channel, delivery checks whether earlier messages of the channel wait for their first attempt.
      -- A failing channel can have 100,000 other rows.
      CREATE INDEX pending_deliveries_unattempted ON pending_deliveries (account_id, endpoint) WHERE attempts = 0;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX pending_deliveries_unattempted');
  }
}
