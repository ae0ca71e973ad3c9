import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Channels of accounts. */
export class Channels1763960000000 implements MigrationInterface {
  readonly name = 'Channels1763960000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Follows CHANNELS. A deleted channel has no row.
      CREATE TABLE channels (
        channel_id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        kind text NOT NULL,
        name text NOT NULL,
        -- active, unverified, disabled
        state text NOT NULL,
        -- The parts that users may read: chatId, url, and the last characters of the secret.
        config jsonb NOT NULL,
        -- Encrypted with MASTER_KEY.
        secret_encrypted bytea,
        -- Of an email channel, in the user's order.
        addresses text[] NOT NULL,
        disabled_at timestamptz(3),
        disabled_reason text,
        failures integer NOT NULL DEFAULT 0,
        last_status_code integer,
        created_at timestamptz(3) NOT NULL,
        updated_at timestamptz(3) NOT NULL
      );
      CREATE INDEX channels_account ON channels (account_id, created_at, channel_id);
      CREATE TABLE channel_addresses (
        channel_id uuid NOT NULL,
        address text NOT NULL,
        -- unverified, verified, unsubscribed, refused
        state text NOT NULL,
        PRIMARY KEY (channel_id, address)
      );
      -- How many verification mails an account has sent to an address on a UTC day. Old days are deleted.
      CREATE TABLE verification_mails (
        account_id uuid NOT NULL,
        address text NOT NULL,
        day date NOT NULL,
        mails integer NOT NULL,
        PRIMARY KEY (account_id, day, address)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE verification_mails, channel_addresses, channels');
  }
}
