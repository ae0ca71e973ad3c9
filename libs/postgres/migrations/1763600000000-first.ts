import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The first tables: accounts, keywords and watches, due work, pending deliveries. */
export class First1763600000000 implements MigrationInterface {
  name = 'First1763600000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INSTALLATION);
    await runner.query(ACCOUNTS);
    await runner.query(KEYWORDS);
    await runner.query(POLLING);
    await runner.query(DELIVERY);
    await runner.query(PROJECTIONS);
  }

  async down(): Promise<void> {
    throw new Error('The first migration cannot be reverted: drop the database instead.');
  }
}

const INSTALLATION = `
-- One row: a text encrypted with MASTER_KEY, which detects a start with another key.
CREATE TABLE installation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  key_check bytea NOT NULL
);
`;

const ACCOUNTS = `
CREATE TABLE accounts (
  account_id uuid PRIMARY KEY,
  email text NOT NULL,
  plan text NOT NULL,
  signing_secret_encrypted bytea NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX accounts_email ON accounts (lower(email));
CREATE TABLE api_keys (
  key_id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  scope text NOT NULL,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX api_keys_account ON api_keys (account_id);
`;

const KEYWORDS = `
CREATE TABLE keywords (
  keyword_id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  name text NOT NULL,
  state text NOT NULL,
  paused_reason text,
  definition jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  version integer NOT NULL
);
CREATE INDEX keywords_account ON keywords (account_id, keyword_id);
CREATE TABLE watches (
  watch_id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  keyword_id uuid REFERENCES keywords ON DELETE CASCADE,
  search_id uuid,
  source text NOT NULL,
  criteria jsonb NOT NULL,
  criteria_hash text NOT NULL,
  interval_seconds integer NOT NULL,
  webhook_url text,
  webhook_mode text NOT NULL,
  ai jsonb,
  analysis boolean NOT NULL,
  backfill boolean NOT NULL,
  is_active boolean NOT NULL,
  paused_reason text,
  retired_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE INDEX watches_account ON watches (account_id, source, watch_id);
CREATE INDEX watches_keyword ON watches (keyword_id);
-- Finds a second active watch of one account on the same search. Not unique: a projection never refuses a message.
CREATE INDEX watches_same_search ON watches (account_id, criteria_hash)
  WHERE is_active AND retired_at IS NULL;
`;

const POLLING = `
CREATE TABLE upstream_searches (
  search_key text PRIMARY KEY,
  source text NOT NULL,
  lane text NOT NULL,
  criteria jsonb NOT NULL,
  next_due_at timestamptz(3) NOT NULL,
  leased_until timestamptz(3) NOT NULL DEFAULT 'epoch',
  -- Data that the connector keeps from its last read (ETags), and the time of that read.
  state jsonb NOT NULL DEFAULT '{}',
  state_at timestamptz(3),
  -- Failed reads in a row.
  failures integer NOT NULL DEFAULT 0
);
CREATE INDEX upstream_searches_due ON upstream_searches (lane, next_due_at);
CREATE TABLE watch_schedule (
  watch_id uuid PRIMARY KEY,
  search_key text NOT NULL REFERENCES upstream_searches,
  account_id uuid NOT NULL,
  keyword_id uuid,
  search_id uuid,
  interval_seconds integer NOT NULL,
  backfill boolean NOT NULL,
  -- Time of the first poll; null before it.
  baseline_at timestamptz(3),
  -- The end of the window of the last completed check. After a gap, earlier items can be missing.
  covered_until timestamptz(3),
  is_active boolean NOT NULL DEFAULT true,
  next_due_at timestamptz(3) NOT NULL,
  -- Sequence of the last check that is applied here. The next append fails if the stream has a later check.
  check_seq bigint NOT NULL DEFAULT 0,
  last_checked_at timestamptz(3),
  last_status text
);
CREATE INDEX watch_schedule_due ON watch_schedule (search_key, next_due_at) WHERE is_active;
CREATE TABLE seen_items (
  watch_id uuid NOT NULL,
  item_id text NOT NULL,
  -- End of the window of the check that saw the item; after covered_until if that check was not stored completely.
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (watch_id, item_id)
);
CREATE INDEX seen_items_latest ON seen_items (watch_id, seen_at DESC);
CREATE TABLE polling_replicas (
  replica uuid PRIMARY KEY,
  seen_at timestamptz(3) NOT NULL
);
CREATE TABLE lanes (
  lane text PRIMARY KEY,
  source text NOT NULL,
  owner uuid,
  leased_until timestamptz(3) NOT NULL DEFAULT 'epoch',
  blocked_until timestamptz(3) NOT NULL DEFAULT 'epoch',
  failures integer NOT NULL DEFAULT 0
);
`;

const DELIVERY = `
CREATE TABLE pending_deliveries (
  event_id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  watch_id uuid NOT NULL,
  keyword_id uuid,
  source text NOT NULL,
  endpoint text NOT NULL,
  body bytea NOT NULL,
  attempts integer NOT NULL,
  first_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) NOT NULL
);
CREATE INDEX pending_deliveries_due ON pending_deliveries (due_at);
CREATE INDEX pending_deliveries_watch ON pending_deliveries (watch_id);
CREATE INDEX pending_deliveries_endpoint ON pending_deliveries (account_id, endpoint, due_at);
CREATE TABLE webhook_endpoints (
  account_id uuid NOT NULL,
  endpoint text NOT NULL,
  disabled_at timestamptz(3),
  disabled_reason text,
  failing_since timestamptz(3),
  PRIMARY KEY (account_id, endpoint)
);
`;

const PROJECTIONS = `
-- The position of a projection on one subject: a repeated message changes nothing, and a message that
-- overtook its predecessor waits.
CREATE TABLE projection_positions (
  projection text NOT NULL,
  subject text NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (projection, subject)
);
`;
