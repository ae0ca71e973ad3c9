import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who changed what through the API. */
export class AuditLog1763985000000 implements MigrationInterface {
  readonly name = 'AuditLog1763985000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_log (
        entry_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        at timestamptz(3) NOT NULL DEFAULT now(),
        -- key or member
        by_kind text NOT NULL,
        by_id uuid NOT NULL,
        method text NOT NULL,
        -- The template of the address, and the address with its ids.
        route text NOT NULL,
        path text NOT NULL,
        -- The keys of the body, without their values.
        body_keys text[] NOT NULL,
        -- The status of the answer. NULL while the request runs. If the status could not be stored, for example because
        -- the process died, it stays NULL, and the outcome is unknown.
        status int,
        request_id text NOT NULL,
        network_address text NOT NULL
      );
      CREATE INDEX audit_log_by_account ON audit_log (account_id, at, entry_id);
      CREATE INDEX audit_log_by_time ON audit_log (at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_log');
  }
}
