import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Recent semantic questions, so that an identical question within ten minutes is charged once. */
export class SemanticQuestions1763920000000 implements MigrationInterface {
  readonly name = 'SemanticQuestions1763920000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE semantic_questions (
        account_id uuid NOT NULL,
        -- SHA-256 over texts and filters.
        question_hash bytea NOT NULL,
        -- The id of its fact on LOOKUPS, and of its reservation.
        question_id uuid NOT NULL,
        asked_at timestamptz(3) NOT NULL,
        -- When its fact was stored; null before.
        charged_at timestamptz(3),
        PRIMARY KEY (account_id, question_hash)
      );
      CREATE INDEX semantic_questions_age ON semantic_questions (asked_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE semantic_questions');
  }
}
