import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The lifecycle of keywords: reasons for pauses, schedules, and the periods that were quoted. */
export class KeywordLife1763800000000 implements MigrationInterface {
  readonly name = 'KeywordLife1763800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE keywords
        -- The reasons why the keyword is paused. Without a reason, it runs.
        ADD COLUMN pauses text[] NOT NULL DEFAULT '{}',
        -- The credits of the check that could not be paid, while the keyword is paused for lack of credits.
        ADD COLUMN credits_needed bigint NOT NULL DEFAULT 0,
        -- When the schedule of the keyword begins or ends next; null if it never begins or ends again.
        ADD COLUMN schedule_turns_at timestamptz(3);
      CREATE INDEX keywords_schedule ON keywords (schedule_turns_at) WHERE schedule_turns_at IS NOT NULL;
      CREATE INDEX keywords_broke ON keywords (account_id) WHERE 'insufficient_credits' = ANY (pauses);
      ALTER TABLE watches
        ADD COLUMN pauses text[] NOT NULL DEFAULT '{}',
        ADD COLUMN credits_needed bigint NOT NULL DEFAULT 0,
        -- True if the source of the watch is disabled in the keyword.
        ADD COLUMN disabled boolean NOT NULL DEFAULT false,
        -- The price at the beginning of the watch, or at its last change.
        ADD COLUMN credits_per_check integer NOT NULL DEFAULT 0,
        ADD COLUMN first_scan_credits integer NOT NULL DEFAULT 0,
        ADD COLUMN price_book_version text NOT NULL DEFAULT '';
      CREATE INDEX watches_slots ON watches (account_id, keyword_id) INCLUDE (pauses, watch_id)
        WHERE retired_at IS NULL AND NOT disabled;
      CREATE INDEX keywords_over_plan ON keywords (account_id) WHERE 'plan' = ANY (pauses);
      DROP INDEX watches_same_search;
      CREATE INDEX watches_same_search ON watches (account_id, criteria_hash) WHERE retired_at IS NULL;
      CREATE INDEX watches_broke ON watches (account_id) WHERE 'insufficient_credits' = ANY (pauses);
      ALTER TABLE watch_schedule
        ADD COLUMN disabled boolean NOT NULL DEFAULT false;
      UPDATE watches SET pauses = ARRAY['user'] WHERE paused_reason = 'user' AND keyword_id IS NULL;
      -- Before this migration, schedules were stored but had no effect. So each schedule is evaluated once now.
      UPDATE keywords SET schedule_turns_at = now() WHERE state <> 'retired' AND definition->'schedule' IS NOT NULL;
      -- Finds the watches that were created before watches had a price.
      CREATE INDEX watches_unpriced ON watches (account_id) WHERE price_book_version = '' AND retired_at IS NULL;
    `);
    await runner.query(`
      -- The periods in which a watch ran under one quote: the price that the account saw.
      CREATE TABLE quoted_periods (
        watch_id uuid NOT NULL,
        account_id uuid NOT NULL,
        keyword_id uuid,
        source text NOT NULL,
        from_at timestamptz(3) NOT NULL,
        -- Null while the period continues.
        to_at timestamptz(3),
        interval_seconds integer NOT NULL,
        credits_per_check integer NOT NULL,
        -- 0 except in a watch's first period.
        first_scan_credits integer NOT NULL,
        price_book_version text NOT NULL,
        PRIMARY KEY (watch_id, from_at)
      );
      CREATE INDEX quoted_periods_account ON quoted_periods (account_id, keyword_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE quoted_periods');
    await runner.query('ALTER TABLE watch_schedule DROP COLUMN disabled');
    await runner.query('DROP INDEX watches_slots, watches_unpriced, watches_same_search');
    await runner.query(
      'CREATE INDEX watches_same_search ON watches (account_id, criteria_hash) WHERE is_active AND retired_at IS NULL',
    );
    await runner.query(
      `ALTER TABLE watches DROP COLUMN pauses, DROP COLUMN credits_needed, DROP COLUMN disabled,
         DROP COLUMN credits_per_check, DROP COLUMN first_scan_credits, DROP COLUMN price_book_version`,
    );
    await runner.query(
      'ALTER TABLE keywords DROP COLUMN pauses, DROP COLUMN credits_needed, DROP COLUMN schedule_turns_at',
    );
  }
}
