import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The lane of the language model, which all replicas share. */
export class LlmLane1763999000000 implements MigrationInterface {
  readonly name = 'LlmLane1763999000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- One row.
      CREATE TABLE llm_lane (
        lane text PRIMARY KEY,
        -- Failures in a row.
        failures integer NOT NULL DEFAULT 0,
        -- No request is sent before this time.
        blocked_until timestamptz(3) NOT NULL DEFAULT 'epoch',
        -- Requests that could be sent at once at refilled_at. The number grows by the allowed requests per minute.
        tokens double precision NOT NULL DEFAULT 'infinity',
        refilled_at timestamptz NOT NULL DEFAULT now()
      );
      INSERT INTO llm_lane (lane) VALUES ('llm');
      -- Requests under way.
      CREATE TABLE llm_turns (
        turn uuid PRIMARY KEY,
        -- The replica of the request renews this time. The request of a dead replica counts until then.
        ends_at timestamptz(3) NOT NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE llm_turns; DROP TABLE llm_lane');
  }
}
