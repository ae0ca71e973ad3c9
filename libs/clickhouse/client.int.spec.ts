import { isolateStores, type IsolatedStores } from '#testing';
import { openClickHouse, selectRows } from './client.js';

let stores: IsolatedStores;

beforeAll(async () => {
  stores = await isolateStores();
});
afterAll(() => stores?.drop());

/** Opens, closes, and returns whether the table exists then. `before` prepares it. */
async function existsAfterOpening(table: string, ...before: string[]): Promise<boolean> {
  const earlier = await openClickHouse(stores.clickhouseUrl, 'spec');
  for (const query of before) await earlier.command({ query });
  await earlier.close();
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  const [row] = await selectRows<{ result: number }>(clickhouse, `EXISTS TABLE ${table}`);
  await clickhouse.close();
  return row?.result === 1;
}

describe('opening ClickHouse', () => {
  it('creates the tables in an empty database', async () => {
    expect(await existsAfterOpening('answers')).toBe(true);
  });

  it('creates what a release adds that has not been here before', async () => {
    const asBefore = ['DROP TABLE answers', 'TRUNCATE TABLE table_versions'];
    expect(await existsAfterOpening('answers', ...asBefore)).toBe(true);
  });

  it('runs the statements of a release once', async () => {
    expect(await existsAfterOpening('answers', 'DROP TABLE answers')).toBe(false);
  });
});
