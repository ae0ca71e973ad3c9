import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The daily credits that each API key may spend through MCP, and its MCP commands. A repeated command counts once. */
export class McpLimits1763996150000 implements MigrationInterface {
  readonly name = 'McpLimits1763996150000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys ADD COLUMN mcp_daily_credits integer');
    await runner.query(`
      CREATE TABLE mcp_commands (
        command_id uuid PRIMARY KEY,
        key_id uuid NOT NULL,
        day date NOT NULL,
        credits bigint NOT NULL,
        calls integer NOT NULL,
        has_effect boolean NOT NULL
      )
    `);
    await runner.query('CREATE INDEX mcp_commands_of_key ON mcp_commands (key_id, day)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp_commands');
    await runner.query('ALTER TABLE api_keys DROP COLUMN mcp_daily_credits');
  }
}
