import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events that wait for the language model. */
export class WaitingReadings1763930000000 implements MigrationInterface {
  readonly name = 'WaitingReadings1763930000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Follows READINGS: the questions without an answer. Claims are only here.
      CREATE TABLE waiting_readings (
        event_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        watch_id uuid NOT NULL,
        -- Sequence of the question in READINGS, which stores its content. The append of the answer fails if a later
        -- message of the event exists.
        seq bigint NOT NULL,
        has_step boolean NOT NULL,
        -- At this time, the event is published with the readings that exist.
        deadline_at timestamptz(3) NOT NULL,
        -- The next try. Of a claimed question: the end of the claim.
        due_at timestamptz(3) NOT NULL,
        -- Null if nobody asks the model.
        claim uuid,
        tries integer NOT NULL DEFAULT 0,
        traceparent text
      );
      CREATE INDEX waiting_readings_turn ON waiting_readings (account_id, watch_id, due_at);
      CREATE INDEX waiting_readings_deadline ON waiting_readings (deadline_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE waiting_readings');
  }
}
