import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkout, openSpecDatabase } from '#testing';

/** The tables of Postgres, by the folder that is allowed to write them. Other folders are allowed only to read them. */
const TABLES: Record<string, string[]> = {
  'apps/billing': [
    ...['accounts', 'api_keys', 'members', 'invitations'],
    ...['credit_balances', 'credit_movements', 'credit_usage'],
  ],
  'apps/gateway': [
    ...['api_key_uses', 'idempotency_records', 'request_quotas'],
    ...['sessions', 'auth_attempts', 'account_mails', 'audit_log', 'mcp_spending', 'mcp_commands'],
    'saved_views',
  ],
  'apps/keywords': ['keywords', 'watches', 'purged_keywords', 'quoted_periods'],
  'apps/polling': [
    ...['watch_schedule', 'upstream_searches', 'schedule_accounts', 'explores', 'explore_sources'],
    ...['seen_items', 'lanes', 'polling_replicas'],
  ],
  'apps/delivery': [
    ...['pending_deliveries', 'webhook_endpoints', 'webhook_tests', 'replays'],
    ...['channels', 'channel_addresses', 'verification_mails'],
  ],
  'apps/analysis': [
    ...['semantic_questions', 'mention_labels', 'waiting_readings', 'backtests'],
    ...['llm_lane', 'llm_turns', 'stories', 'buckets'],
    ...['mention_counts', 'counted_mentions', 'search_coverage', 'alert_turns', 'alert_episodes'],
    ...['digest_items', 'digest_turns', 'reports'],
  ],
  'libs/credits': ['credit_reservations'],
  'libs/platform': ['installation'],
  'libs/projections': ['projection_positions', 'projection_versions'],
};

/** Code that is allowed to write all tables: specs and their tools prepare data, and migrations change data. */
const EXEMPT = [/\.spec\.ts$/, /(^|\/)testing\//, /^libs\/postgres\/migrations\//];

const root = fileURLToPath(checkout);

/** Returns the source files below `apps` and `libs` that are allowed to write only the tables of their folder. */
function sources(): string[] {
  return ['apps', 'libs']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((path) => path.endsWith('.ts') && !EXEMPT.some((pattern) => pattern.test(path)));
}

/** Returns the statements in the text of a file that write a table of another folder. */
function writesToForeignTables(path: string, text: string): string[] {
  const foreign = Object.entries(TABLES).flatMap(([owner, tables]) =>
    path.startsWith(`${owner}/`) ? [] : tables,
  );
  const statement = new RegExp(
    `(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|MERGE INTO)\\s+(?:${foreign.join('|')})\\b`,
    'g',
  );
  return [...text.matchAll(statement)].map(([found]) => `${path}: ${found}`);
}

describe('the tables of Postgres', () => {
  it('are all in the list of owners', async () => {
    const { database, drop } = await openSpecDatabase();
    const rows: { table: string }[] = await database
      .query(
        `SELECT table_name AS table FROM information_schema.tables
         WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
      )
      .finally(drop);
    const owned = Object.values(TABLES).flat();
    // TypeORM writes the table of its migrations itself.
    expect(['migrations', ...owned].sort()).toEqual(rows.map(({ table }) => table).sort());
  });

  it('are written only by the folder that owns them', () => {
    // If this fails: change the table of another folder by a fact, or by a command to its owner.
    expect(
      sources().flatMap((path) => writesToForeignTables(path, readFileSync(join(root, path), 'utf8'))),
    ).toEqual([]);
  });

  it('are each used in the code of their owner', () => {
    const written = Object.entries(TABLES).flatMap(([owner, tables]) => {
      const text = sources()
        .filter((path) => path.startsWith(`${owner}/`))
        .map((path) => readFileSync(join(root, path), 'utf8'))
        .join('\n');
      return tables.filter((table) => !text.includes(table)).map((table) => `${owner}: ${table}`);
    });
    expect(written).toEqual([]);
  });

  it('are protected by a check, which finds a write to the table of another folder', () => {
    expect(writesToForeignTables('apps/gateway/x.ts', 'await sql(`UPDATE keywords SET name = 1`)')).toEqual([
      'apps/gateway/x.ts: UPDATE keywords',
    ]);
    expect(writesToForeignTables('apps/keywords/x.ts', 'await sql(`UPDATE keywords SET name = 1`)')).toEqual(
      [],
    );
  });
});
