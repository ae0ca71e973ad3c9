import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The end of the last digest of a channel whose mode changes to `instant`. */
export class LastDigests1764410000000 implements MigrationInterface {
  readonly name = 'LastDigests1764410000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The last sequence of EVENTS that the last digest contains; NULL if further digests follow.
      ALTER TABLE digest_turns ADD COLUMN last_seq bigint;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE digest_turns DROP COLUMN last_seq');
  }
}
