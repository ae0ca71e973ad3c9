import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Allows labels to be null until a person sets them, so that rules may set them. Adds backtests of rules. */
export class Rules1763941000000 implements MigrationInterface {
  readonly name = 'Rules1763941000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Null: no person has decided about the labels.
      ALTER TABLE mention_labels ALTER COLUMN labels DROP NOT NULL;
      CREATE TABLE backtests (
        backtest_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        keyword_id uuid NOT NULL,
        -- The definition that is tested, as JSON of the message KeywordDefinition.
        definition jsonb NOT NULL,
        since timestamptz(3) NOT NULL,
        until timestamptz(3) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX backtests_keyword ON backtests (keyword_id);
      CREATE INDEX backtests_created ON backtests (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE backtests;
      UPDATE mention_labels SET labels = '{}' WHERE labels IS NULL;
      ALTER TABLE mention_labels ALTER COLUMN labels SET NOT NULL;
    `);
  }
}
