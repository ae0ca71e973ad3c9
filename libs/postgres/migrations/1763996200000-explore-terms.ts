import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Explores that ask for several terms, and that read feeds. */
export class ExploreTerms1763996200000 implements MigrationInterface {
  readonly name = 'ExploreTerms1763996200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE explores ADD COLUMN terms text[] NOT NULL DEFAULT '{}', ADD COLUMN feed_urls text[] NOT NULL DEFAULT '{}'
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE explores DROP COLUMN terms, DROP COLUMN feed_urls');
  }
}
