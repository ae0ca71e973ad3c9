import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A request to the language model that has waited long gets the next turn, whichever replica it comes from. */
export class NextLlmTurn1763999200000 implements MigrationInterface {
  readonly name = 'NextLlmTurn1763999200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Other turns leave room for the turn next_turn until next_until.
      ALTER TABLE llm_lane ADD COLUMN next_turn uuid, ADD COLUMN next_until timestamptz(3);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE llm_lane DROP COLUMN next_turn, DROP COLUMN next_until');
  }
}
