import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Waiting mails are claimed separately from other deliveries. */
export class MailLane1763996000000 implements MigrationInterface {
  readonly name = 'MailLane1763996000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- True if the delivery is a mail. All mails go to one server, and it accepts few at once.
      ALTER TABLE pending_deliveries ADD COLUMN by_mail boolean NOT NULL DEFAULT false;
      UPDATE pending_deliveries p SET by_mail = true FROM channels c
        WHERE c.kind = 'email' AND p.endpoint = 'channel:' || c.channel_id;
      DROP INDEX pending_deliveries_endpoint;
      CREATE INDEX pending_deliveries_endpoint ON pending_deliveries (by_mail, account_id, endpoint, due_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX pending_deliveries_endpoint;
      CREATE INDEX pending_deliveries_endpoint ON pending_deliveries (account_id, endpoint, due_at);
      ALTER TABLE pending_deliveries DROP COLUMN by_mail;
    `);
  }
}
