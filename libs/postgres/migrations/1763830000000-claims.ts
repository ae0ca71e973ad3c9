import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores who holds a claim or a reservation. A replica that was wrongly considered dead must not release the claims and
 * reservations of its successor.
 */
export class Claims1763830000000 implements MigrationInterface {
  readonly name = 'Claims1763830000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE upstream_searches
        -- Set by every claim; null while the search is not claimed.
        ADD COLUMN claim uuid;
      ALTER TABLE credit_holds
        -- The last holder: a claim or a lookup request. Nobody else may release or extend it.
        ADD COLUMN holder uuid;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE credit_holds DROP COLUMN holder');
    await runner.query('ALTER TABLE upstream_searches DROP COLUMN claim');
  }
}
