import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Shared data of all gateways: the request quota of the minute, and the stored answers of idempotency keys. */
export class Requests1763820000000 implements MigrationInterface {
  readonly name = 'Requests1763820000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Lost with a crash of Postgres, which begins a new minute for everybody.
      CREATE UNLOGGED TABLE request_quotas (
        account_id uuid PRIMARY KEY,
        window_start timestamptz(3) NOT NULL,
        -- Requests of the minute that are spent, or leased to a gateway; never above the limit.
        used integer NOT NULL,
        -- What the latest lease came to: how the statement that takes one tells it.
        last_lease integer NOT NULL
      ) WITH (fillfactor = 50);
    `);
    await runner.query(`
      CREATE TABLE idempotency_records (
        account_id uuid NOT NULL,
        key text NOT NULL,
        -- SHA-256 over method, address and canonical body.
        request_hash bytea NOT NULL,
        -- The id of the command that the request becomes: whoever takes the request up again sends the same one.
        command_id uuid NOT NULL,
        -- Who runs it: one that was taken for dead and is not leaves its successor's outcome alone.
        runner uuid NOT NULL,
        -- While the request runs: until when its gateway is taken to be alive.
        running_until timestamptz(3),
        -- Null until there is an outcome that stands.
        status integer,
        body text,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        PRIMARY KEY (account_id, key)
      );
      CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE idempotency_records');
    await runner.query('DROP TABLE request_quotas');
  }
}
