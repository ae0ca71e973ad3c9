import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The previous signing secret, which stays valid for a day after a rotation, and the form of an account's signatures.
 */
export class Signatures1763840000000 implements MigrationInterface {
  readonly name = 'Signatures1763840000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        ADD COLUMN previous_signing_secret_encrypted bytea,
        ADD COLUMN previous_signing_secret_valid_until timestamptz(3),
        ADD COLUMN signature_version text NOT NULL DEFAULT 'v1';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        DROP COLUMN previous_signing_secret_encrypted,
        DROP COLUMN previous_signing_secret_valid_until,
        DROP COLUMN signature_version;
    `);
  }
}
