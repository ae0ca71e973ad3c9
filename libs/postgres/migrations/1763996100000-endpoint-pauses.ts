import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The pause that the destination of a channel asked for. It applies to all replicas. */
export class EndpointPauses1763996100000 implements MigrationInterface {
  readonly name = 'EndpointPauses1763996100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Nothing is sent to the endpoint before this time, because an answer limits the rate (see retryAfterMsOf).
      ALTER TABLE webhook_endpoints ADD COLUMN paused_until timestamptz(3);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhook_endpoints DROP COLUMN paused_until');
  }
}
