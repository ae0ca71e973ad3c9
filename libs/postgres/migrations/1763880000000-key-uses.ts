import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The last uses of keys, which only the gateway knows. `api_keys` follows only ACCOUNTS, so a rebuild loses nothing.
 */
export class KeyUses1763880000000 implements MigrationInterface {
  readonly name = 'KeyUses1763880000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE api_key_uses (
        key_id uuid PRIMARY KEY,
        last_used_at timestamptz(3) NOT NULL
      );
      INSERT INTO api_key_uses SELECT key_id, last_used_at FROM api_keys WHERE last_used_at IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE api_key_uses');
  }
}
