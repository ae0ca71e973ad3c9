import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Decisions of people about mentions, and recently purged keywords. */
export class Labels1763870000000 implements MigrationInterface {
  readonly name = 'Labels1763870000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mention_labels (
        mention_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        -- The keyword, or the lone watch.
        owner_id uuid NOT NULL,
        labels text[] NOT NULL,
        corrections jsonb NOT NULL,
        -- Sequence in LABELS of the last decision.
        version bigint NOT NULL
      );
      CREATE INDEX mention_labels_owner ON mention_labels (owner_id);
      -- ClickHouse deletes with a delay; until then reads leave these keywords out.
      CREATE TABLE purged_keywords (
        keyword_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        purged_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX purged_keywords_account ON purged_keywords (account_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE purged_keywords');
    await runner.query('DROP TABLE mention_labels');
  }
}
