import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The people of an account, their invitations, and which member made a key. */
export class Members1763980000000 implements MigrationInterface {
  readonly name = 'Members1763980000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- NULL: the command line created it.
      ALTER TABLE api_keys ADD COLUMN member_id uuid;
      CREATE TABLE members (
        member_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        email text NOT NULL,
        -- owner, editor or viewer
        role text NOT NULL,
        -- argon2id in the PHC format
        password_hash text NOT NULL,
        -- Counts the changes of the password. A session is valid while it contains the same number.
        password_version int NOT NULL DEFAULT 1,
        joined_at timestamptz(3) NOT NULL,
        removed_at timestamptz(3)
      );
      CREATE INDEX members_by_account ON members (account_id, joined_at);
      CREATE INDEX members_by_email ON members (lower(email)) WHERE removed_at IS NULL;
      CREATE TABLE invitations (
        invitation_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        email text NOT NULL,
        role text NOT NULL,
        -- SHA-256
        code_hash bytea NOT NULL,
        -- NULL: the invitation was created by the command line.
        invited_by uuid,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        -- NULL while it is neither accepted nor revoked.
        ended_at timestamptz(3)
      );
      CREATE INDEX invitations_by_account ON invitations (account_id, created_at);
      CREATE INDEX invitations_by_code ON invitations (code_hash);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE invitations;
      DROP TABLE members;
      ALTER TABLE api_keys DROP COLUMN member_id;
    `);
  }
}
