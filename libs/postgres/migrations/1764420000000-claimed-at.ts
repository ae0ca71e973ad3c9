import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When deliveries were claimed whose attempts have no result yet. */
export class ClaimedAt1764420000000 implements MigrationInterface {
  readonly name = 'ClaimedAt1764420000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- NULL: no attempt can be under way. Otherwise the time of the first claim since the last result: ATTEMPTS can contain
      -- a later attempt that is not in this table.
      ALTER TABLE pending_deliveries ADD COLUMN claimed_at timestamptz(3);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE pending_deliveries DROP COLUMN claimed_at');
  }
}
