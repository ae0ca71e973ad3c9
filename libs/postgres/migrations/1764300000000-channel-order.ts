import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The place of a waiting delivery in the order of its channel. */
export class ChannelOrder1764300000000 implements MigrationInterface {
  readonly name = 'ChannelOrder1764300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- When EVENTS stored the event, and its sequence. NULL and 0 for deliveries that are not messages of events to channels.
      ALTER TABLE pending_deliveries
        ADD COLUMN event_stored_at timestamptz(3),
        ADD COLUMN event_seq bigint NOT NULL DEFAULT 0;
      DROP INDEX pending_deliveries_endpoint;
      CREATE INDEX pending_deliveries_endpoint ON pending_deliveries (by_mail, account_id, endpoint, due_at, event_seq);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX pending_deliveries_endpoint;
      CREATE INDEX pending_deliveries_endpoint ON pending_deliveries (by_mail, account_id, endpoint, due_at);
      ALTER TABLE pending_deliveries DROP COLUMN event_stored_at, DROP COLUMN event_seq;
    `);
  }
}
