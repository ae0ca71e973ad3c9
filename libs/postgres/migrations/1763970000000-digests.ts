import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The items that wait for a digest, and the time at which each digest is due. */
export class Digests1763970000000 implements MigrationInterface {
  readonly name = 'Digests1763970000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Follows EVENTS: the pushed events of keywords with a channel that gets digests. Old rows are deleted.
      CREATE TABLE digest_items (
        keyword_id uuid NOT NULL,
        -- Sequence in EVENTS.
        seq bigint NOT NULL,
        event_id uuid NOT NULL UNIQUE,
        occurred_at timestamptz(3) NOT NULL,
        item jsonb NOT NULL,
        PRIMARY KEY (keyword_id, seq)
      );
      CREATE INDEX digest_items_age ON digest_items (occurred_at);
      -- The next digest of each channel of a keyword, in each of its modes.
      CREATE TABLE digest_turns (
        keyword_id uuid NOT NULL,
        channel_id uuid NOT NULL,
        mode text NOT NULL,
        account_id uuid NOT NULL,
        -- The account's time zone with which due_at was computed.
        timezone text NOT NULL,
        -- The end of the previous digest's period.
        period_from timestamptz(3) NOT NULL,
        -- Items up to this sequence of EVENTS were in an earlier digest.
        after_seq bigint NOT NULL,
        -- Sequence of the previous digest in DIGESTS; 0 if there is none.
        digest_seq bigint NOT NULL DEFAULT 0,
        due_at timestamptz(3) NOT NULL,
        -- Until this time, only the replica that claimed the digest assembles it.
        claimed_until timestamptz(3) NOT NULL DEFAULT '-infinity',
        PRIMARY KEY (keyword_id, channel_id, mode)
      );
      CREATE INDEX digest_turns_due ON digest_turns (due_at);
      -- Follows DIGESTS: the weekly reports. Old rows are deleted.
      CREATE TABLE reports (
        report_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        keyword_id uuid NOT NULL,
        channel_id uuid NOT NULL,
        period_from timestamptz(3) NOT NULL,
        period_to timestamptz(3) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        -- The address of its page, which ends with a secret token.
        url text NOT NULL,
        token text NOT NULL UNIQUE,
        -- The digest, with its figures.
        body jsonb NOT NULL
      );
      CREATE INDEX reports_account ON reports (account_id, created_at, report_id);
      CREATE INDEX reports_keyword ON reports (keyword_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE digest_items, digest_turns, reports');
  }
}
