import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The `traceparent` of the work that caused a delivery or a watch; null if the trace of that work is not recorded. */
export class Traces1763895000000 implements MigrationInterface {
  readonly name = 'Traces1763895000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE pending_deliveries ADD COLUMN traceparent text');
    // For a watch that has not been checked yet: the request that created it.
    await runner.query('ALTER TABLE watch_schedule ADD COLUMN traceparent text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE watch_schedule DROP COLUMN traceparent');
    await runner.query('ALTER TABLE pending_deliveries DROP COLUMN traceparent');
  }
}
