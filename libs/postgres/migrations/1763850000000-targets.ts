import type { MigrationInterface, QueryRunner } from 'typeorm';
import { endpointIdOf } from '#kernel';

/** The key of a delivery becomes event and target. Also adds replays, and the state of failing endpoints. */
export class Targets1763850000000 implements MigrationInterface {
  readonly name = 'Targets1763850000000';

  async up(runner: QueryRunner): Promise<void> {
    await keyByTarget(runner);
    await runner.query(`
      ALTER TABLE webhook_endpoints
        -- Failed attempts since failing_since.
        ADD COLUMN failures integer NOT NULL DEFAULT 0,
        -- Status of the last failed attempt; 0: no response.
        ADD COLUMN last_status_code integer;
    `);
    await runner.query(REPLAYS);
    await runner.query(`
      -- The account's webhook tests in this minute. A crash of Postgres deletes the rows: the count starts at 0 again.
      CREATE UNLOGGED TABLE webhook_tests (
        account_id uuid PRIMARY KEY,
        minute timestamptz(3) NOT NULL,
        tests integer NOT NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_tests');
    await runner.query('DROP TABLE replays');
    await runner.query('ALTER TABLE webhook_endpoints DROP COLUMN failures, DROP COLUMN last_status_code');
    // The old key cannot represent deliveries to other targets than the watch's webhook.
    await runner.query(`DELETE FROM pending_deliveries WHERE target_kind <> 'webhook'`);
    await runner.query('ALTER TABLE pending_deliveries DROP CONSTRAINT pending_deliveries_pkey');
    await runner.query('DROP INDEX pending_deliveries_target');
    await runner.query('ALTER TABLE pending_deliveries DROP COLUMN target_kind, DROP COLUMN target_id');
    await runner.query('ALTER TABLE pending_deliveries ADD PRIMARY KEY (event_id)');
  }
}

/**
 * Deliveries that are already waiting go to webhook addresses: their target ids are derived from account and address.
 */
async function keyByTarget(runner: QueryRunner): Promise<void> {
  await runner.query(`
    ALTER TABLE pending_deliveries
      ADD COLUMN target_kind text NOT NULL DEFAULT 'webhook',
      ADD COLUMN target_id uuid;
    ALTER TABLE pending_deliveries ALTER COLUMN target_kind DROP DEFAULT;
  `);
  const endpoints = (await runner.query('SELECT DISTINCT account_id, endpoint FROM pending_deliveries')) as {
    account_id: string;
    endpoint: string;
  }[];
  for (const { account_id, endpoint } of endpoints)
    await runner.query(
      'UPDATE pending_deliveries SET target_id = $3 WHERE account_id = $1 AND endpoint = $2',
      [account_id, endpoint, endpointIdOf(account_id, endpoint)],
    );
  await runner.query(`
    ALTER TABLE pending_deliveries
      ALTER COLUMN target_id SET NOT NULL,
      DROP CONSTRAINT pending_deliveries_pkey,
      ADD PRIMARY KEY (event_id, target_kind, target_id);
    -- Finds out whether deliveries of a replay are still waiting.
    CREATE INDEX pending_deliveries_target ON pending_deliveries (target_id) WHERE target_kind <> 'webhook';
  `);
}

const REPLAYS = `
-- Follows REPLAYS. The progress of a running replay is stored only here.
CREATE TABLE replays (
  replay_id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  keyword_id uuid,
  watch_id uuid,
  since timestamptz(3) NOT NULL,
  until timestamptz(3) NOT NULL,
  -- Null if its keyword was purged.
  url text,
  types text[] NOT NULL,
  rate_per_second integer NOT NULL,
  -- queued, running, done, failed, cancelled
  status text NOT NULL,
  message text NOT NULL DEFAULT '',
  -- Null before it begins.
  matched integer,
  -- Numbers of events. sent: accepted by the receiver. failed: given up. missing: in the index, but not in EVENTS.
  sent integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  missing integer NOT NULL DEFAULT 0,
  -- Events up to here have had their first attempt: time in ClickHouse's format, and id.
  after_at text,
  after_id uuid,
  -- The index must contain EVENTS up to here before the replay begins.
  up_to_seq bigint NOT NULL,
  -- The replica that works on it, by an id that is new for every turn.
  claim uuid,
  -- The time of its next turn; during a turn, the time after which its replica counts as dead.
  due_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3)
);
CREATE INDEX replays_account ON replays (account_id, replay_id);
CREATE INDEX replays_due ON replays (due_at) WHERE status IN ('queued', 'running');
CREATE INDEX replays_keyword ON replays (keyword_id) WHERE keyword_id IS NOT NULL;
CREATE INDEX replays_watch ON replays (watch_id) WHERE watch_id IS NOT NULL;
`;
