import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The credits that each API key spends through MCP in a UTC day. */
export class McpSpending1763995000000 implements MigrationInterface {
  readonly name = 'McpSpending1763995000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp_spending (
        key_id uuid NOT NULL,
        day date NOT NULL,
        credits bigint NOT NULL,
        PRIMARY KEY (key_id, day)
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp_spending');
  }
}
