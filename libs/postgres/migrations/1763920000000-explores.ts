import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Explores: questions that are asked of sources once. */
export class Explores1763920000000 implements MigrationInterface {
  readonly name = 'Explores1763920000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE explores (
        explore_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        question text NOT NULL,
        market text NOT NULL,
        most_items integer NOT NULL,
        credits_quoted bigint NOT NULL,
        created_at timestamptz(3) NOT NULL
      );
      CREATE INDEX explores_account ON explores (account_id, created_at);
      CREATE TABLE explore_sources (
        explore_id uuid NOT NULL,
        source text NOT NULL,
        position integer NOT NULL,
        -- queued, done, failed. A source that is being asked is queued and claimed.
        status text NOT NULL DEFAULT 'queued',
        items integer NOT NULL DEFAULT 0,
        credits bigint NOT NULL DEFAULT 0,
        message text NOT NULL DEFAULT '',
        ended_at timestamptz(3),
        -- While a replica asks the source: the end of its claim. Otherwise: the source is not asked before this time.
        claimed_until timestamptz(3) NOT NULL DEFAULT 'epoch',
        -- Identifies the claim; null while nobody asks the source.
        claim uuid,
        PRIMARY KEY (explore_id, source)
      );
      CREATE INDEX explore_sources_queued ON explore_sources (source, claimed_until) WHERE status = 'queued';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE explore_sources');
    await runner.query('DROP TABLE explores');
  }
}
