import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The health of a lane's upstream, stored so that it survives restarts and moves of the lane. `GET /v1/sources` reads
 * it.
 */
export class UpstreamHealth1763700000000 implements MigrationInterface {
  readonly name = 'UpstreamHealth1763700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE lanes
        -- Why the upstream is not healthy, for people; empty if it is healthy.
        ADD COLUMN trouble text NOT NULL DEFAULT '',
        ADD COLUMN last_success_at timestamptz(3),
        -- Why the lane is blocked, the spent part of daily quotas, and the position in the feed.
        ADD COLUMN memory jsonb NOT NULL DEFAULT '{}'
    `);
    // Each read of a search queries the shortest interval of its watches.
    await runner.query(
      'CREATE INDEX watch_schedule_shortest ON watch_schedule (search_key, interval_seconds) WHERE is_active',
    );
    // A metric shows the age of the oldest waiting delivery.
    await runner.query('CREATE INDEX pending_deliveries_first ON pending_deliveries (first_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX pending_deliveries_first');
    await runner.query('DROP INDEX watch_schedule_shortest');
    await runner.query(
      'ALTER TABLE lanes DROP COLUMN trouble, DROP COLUMN last_success_at, DROP COLUMN memory',
    );
  }
}
