import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds an index that finds the endpoints with due deliveries, if they are few. */
export class DueDeliveries1764430000000 implements MigrationInterface {
  readonly name = 'DueDeliveries1764430000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Without it, a claim looks at each endpoint that has waiting deliveries: 0.4 s if 50,000 endpoints wait for a retry.
      -- The time is an expression, so that Postgres uses the index only in the statement that names this expression. An index
      -- of due_at itself was dropped, because it misled the claims.
      CREATE INDEX pending_deliveries_due ON pending_deliveries (by_mail, (due_at AT TIME ZONE 'UTC'));
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX pending_deliveries_due');
  }
}
