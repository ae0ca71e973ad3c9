import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Shared data of all gateways: the request quota of the minute, and the stored answers of idempotency keys. */
export class Requests1763820000000 implements MigrationInterface {
  readonly name = 'Requests1763820000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The rows are lost when Postgres crashes. Then all accounts have their whole quota again.
      CREATE UNLOGGED TABLE request_quotas (
        account_id uuid PRIMARY KEY,
        window_start timestamptz(3) NOT NULL,
        -- Requests of the minute that are used, or leased to a gateway; never above the limit.
        used integer NOT NULL,
        -- The size of the latest lease. The statement that takes a lease returns this size.
        last_lease integer NOT NULL
      ) WITH (fillfactor = 50);
    `);
    await runner.query(`
      CREATE TABLE idempotency_records (
        account_id uuid NOT NULL,
        key text NOT NULL,
        -- SHA-256 over method, address and canonical body.
        request_hash bytea NOT NULL,
        -- The id of the command of the request: a gateway that repeats the request sends the same id.
        command_id uuid NOT NULL,
        -- The id of the attempt that runs the request. A later attempt has another id, so that an earlier one cannot
        -- overwrite its outcome.
        runner uuid NOT NULL,
        -- While the request runs: the time until which its gateway counts as alive.
        running_until timestamptz(3),
        -- Null until there is a final outcome.
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
