import { isolateStores, type IsolatedStores } from '#testing';
import { openClickHouse, selectRows } from './client.js';

let stores: IsolatedStores;

beforeAll(async () => {
  stores = await isolateStores();
});
afterAll(() => stores?.drop());

/** Runs statements, opens ClickHouse again, and returns whether the column of the table exists then. */
async function existsAfterOpening(table: string, column: string, ...before: string[]): Promise<boolean> {
  const earlier = await openClickHouse(stores.clickhouseUrl, 'spec');
  for (const query of before) await earlier.command({ query });
  await earlier.close();
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  const found = await selectRows(
    clickhouse,
    `SELECT 1 FROM system.columns
     WHERE database = currentDatabase() AND table = {table: String} AND name = {column: String}`,
    { table, column },
  );
  await clickhouse.close();
  return found.length > 0;
}

describe('opening ClickHouse', () => {
  it('creates the tables in an empty database', async () => {
    expect(await existsAfterOpening('activity', 'gap')).toBe(true);
  });

  it('runs the statements of a release once', async () => {
    const drop = 'ALTER TABLE activity DROP COLUMN gap';
    expect(await existsAfterOpening('activity', 'gap', drop)).toBe(false);
  });

  it('runs the statements of a release that has not been here before', async () => {
    expect(await existsAfterOpening('activity', 'gap', 'TRUNCATE TABLE table_versions')).toBe(true);
  });

  it('creates a table again that somebody has dropped', async () => {
    expect(await existsAfterOpening('answers', 'text', 'DROP TABLE answers')).toBe(true);
  });
});
