import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The gateway's data about people who sign in: sessions, attempts, waiting mails. */
export class Sessions1763981000000 implements MigrationInterface {
  readonly name = 'Sessions1763981000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sessions (
        session_id uuid PRIMARY KEY,
        -- SHA-256 of the cookie's value
        token_hash bytea NOT NULL UNIQUE,
        -- No foreign key: a rebuild replaces the table of members.
        member_id uuid NOT NULL,
        -- The session is valid while this is the number of the member's password.
        password_version int NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        last_seen_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        -- As they were at the sign-in, for the list of sessions.
        user_agent text NOT NULL,
        network_address text NOT NULL
      );
      CREATE INDEX sessions_by_member ON sessions (member_id);
      CREATE INDEX sessions_by_expiry ON sessions (expires_at);
      CREATE TABLE auth_attempts (
        attempt_id uuid NOT NULL,
        -- SHA-256 of the kind of the attempt and of what is limited: an e-mail address or a network.
        subject bytea NOT NULL,
        at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (subject, at, attempt_id)
      );
      CREATE INDEX auth_attempts_by_id ON auth_attempts (attempt_id);
      CREATE INDEX auth_attempts_by_time ON auth_attempts (at);
      CREATE TABLE account_mails (
        mail_id uuid PRIMARY KEY,
        -- reset or sign-up
        kind text NOT NULL,
        email text NOT NULL,
        attempts int NOT NULL DEFAULT 0,
        due_at timestamptz(3) NOT NULL DEFAULT now(),
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX account_mails_by_time ON account_mails (due_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE account_mails; DROP TABLE auth_attempts; DROP TABLE sessions;');
  }
}
