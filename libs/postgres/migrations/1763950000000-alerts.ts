import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts of mentions, the times that checks cover, and the episodes of alerts. */
export class Alerts1763950000000 implements MigrationInterface {
  readonly name = 'Alerts1763950000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Follows EVENTS: mentions of a search in five minutes, without dropped and hidden ones.
      CREATE TABLE mention_counts (
        keyword_id uuid NOT NULL,
        -- The start of the five minutes.
        bin timestamptz(0) NOT NULL,
        search_id uuid NOT NULL,
        total integer NOT NULL,
        negative integer NOT NULL,
        PRIMARY KEY (keyword_id, bin, search_id)
      );
      CREATE INDEX mention_counts_bin ON mention_counts (bin);
      -- Follows EVENTS and keeps the last days, so that an event that is stored twice is counted once. Alerts also take
      -- their examples from here.
      CREATE TABLE counted_mentions (
        event_id uuid PRIMARY KEY,
        keyword_id uuid NOT NULL,
        search_id uuid NOT NULL,
        counted_at timestamptz(3) NOT NULL,
        occurred_at timestamptz(3) NOT NULL,
        negative boolean NOT NULL
      );
      CREATE INDEX counted_mentions_keyword ON counted_mentions (keyword_id, counted_at);
      CREATE INDEX counted_mentions_age ON counted_mentions (occurred_at);
      -- Keywords whose alerts are to be evaluated.
      CREATE TABLE alert_turns (
        keyword_id uuid PRIMARY KEY,
        -- The earliest five minutes with a new mention since the last evaluation; null if there is none.
        changed_from timestamptz(0),
        -- Increases with each change, so that an evaluation can detect changes that came after its reads.
        changes bigint NOT NULL DEFAULT 1,
        -- The next evaluation. During an evaluation: the end of its claim.
        due_at timestamptz(3) NOT NULL,
        evaluated_at timestamptz(3)
      );
      CREATE INDEX alert_turns_due ON alert_turns (due_at);
      -- Follows CHECKS: times whose items are all known. Rows of a search can overlap.
      CREATE TABLE search_coverage (
        keyword_id uuid NOT NULL,
        search_id uuid NOT NULL,
        covered_from timestamptz(3) NOT NULL,
        covered_to timestamptz(3) NOT NULL,
        PRIMARY KEY (keyword_id, search_id, covered_from)
      );
      CREATE INDEX search_coverage_age ON search_coverage (covered_to);
      -- Follows ALERTS: the last episode of each rule.
      CREATE TABLE alert_episodes (
        keyword_id uuid NOT NULL,
        -- The rule's id, or 'spike'.
        key text NOT NULL,
        account_id uuid NOT NULL,
        alert_id uuid NOT NULL UNIQUE,
        fired_at timestamptz(3) NOT NULL,
        suppressed_until timestamptz(3) NOT NULL,
        ended boolean NOT NULL,
        -- The end of the last evaluated window that reached the level of the rule.
        above_until timestamptz(3) NOT NULL,
        PRIMARY KEY (keyword_id, key)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP TABLE mention_counts, counted_mentions, alert_turns, search_coverage, alert_episodes',
    );
  }
}
