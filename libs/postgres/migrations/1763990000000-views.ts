import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Filters of the feed that the members of an account have saved. The gateway owns them. No stream contains them. */
export class Views1763990000000 implements MigrationInterface {
  readonly name = 'Views1763990000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE saved_views (
        view_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        name text NOT NULL,
        query text NOT NULL,
        -- The member who saved it; null for an API key.
        created_by uuid,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX saved_views_account ON saved_views (account_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE saved_views');
  }
}
