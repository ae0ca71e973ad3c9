import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The part of a keyword's feed address that a rotation replaces. */
export class Feeds1763971000000 implements MigrationInterface {
  readonly name = 'Feeds1763971000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE keywords ADD COLUMN feed_key text NOT NULL DEFAULT ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE keywords DROP COLUMN feed_key');
  }
}
