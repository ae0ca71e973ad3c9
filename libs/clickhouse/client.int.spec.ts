import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { DateTime } from 'luxon';
import { freePort } from '#embedded';
import { Outage } from '#kernel';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { insertRows, openClickHouse, openClickHouseLater, selectRows } from './client.js';
import { NO_ID } from './rows.js';

let stores: IsolatedStores;

beforeAll(async () => {
  stores = await isolateStores();
});
afterAll(() => stores?.drop());

/** Runs statements, opens ClickHouse again, and returns whether the table then has the column. */
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

  it('runs the statements of a release that has not opened this database before', async () => {
    expect(await existsAfterOpening('activity', 'gap', 'TRUNCATE TABLE table_versions')).toBe(true);
  });

  it('creates a dropped table again', async () => {
    expect(await existsAfterOpening('answers', 'text', 'DROP TABLE answers')).toBe(true);
  });
});

describe('opening ClickHouse later', () => {
  it('creates missing tables before the first statement', async () => {
    const earlier = await openClickHouse(stores.clickhouseUrl, 'spec');
    await earlier.command({ query: 'DROP TABLE answers' });
    await earlier.close();
    const clickhouse = openClickHouseLater(stores.clickhouseUrl, 'spec');
    expect(await selectRows(clickhouse, 'SELECT * FROM answers')).toEqual([]);
    await clickhouse.close();
  });

  it('throws an outage for each statement while ClickHouse cannot be reached', async () => {
    const clickhouse = openClickHouseLater(`http://127.0.0.1:${await freePort()}`, 'spec');
    for (let n = 0; n < 2; n += 1) await expect(selectRows(clickhouse, 'SELECT 1')).rejects.toThrow(Outage);
    await clickhouse.close();
  });
});

describe('a query', () => {
  it('throws an outage before a client of the API gives up, if ClickHouse accepts connections and never responds', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const deadline = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
    const clickhouse = openClickHouseLater(`http://127.0.0.1:${port}`, 'spec');
    const query = selectRows(clickhouse, 'SELECT 1');
    await once(server, 'connection');
    deadline.abort();
    await expect(query).rejects.toEqual(new Outage('ClickHouse', 'no response after 50 s'));
    expect(timeout).toHaveBeenCalledWith(50_000);
    timeout.mockRestore();
    await clickhouse.close();
    server.close();
  });

  it('has the settings with which ClickHouse ends it when its connection closes', async () => {
    const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
    const rows = await selectRows<{ name: string; value: string }>(
      clickhouse,
      `SELECT name, value FROM system.settings
       WHERE name IN ('readonly', 'cancel_http_readonly_queries_on_client_close') ORDER BY name`,
    );
    // ClickHouse ends only queries with `readonly`.
    expect(rows.map(({ value }) => value)).toEqual(['1', '2']);
    await clickhouse.close();
  });
});

describe('a mention that an Explore found', () => {
  it('is deleted after 90 days, with its vector, unlike a mention of a keyword', async () => {
    const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
    const [accountId, exploreId] = [randomUUID(), randomUUID()];
    const at = (days: number) => DateTime.utc().minus({ days }).toFormat('yyyy-MM-dd HH:mm:ss.SSS');
    const wanted = [];
    for (const [days, explored] of [
      [91, true],
      [89, true],
      [91, false],
    ] as const) {
      const row = { account_id: accountId, occurred_at: at(days), event_id: randomUUID() };
      await insertRows(clickhouse, 'mentions', [{ ...row, explore_id: explored ? exploreId : NO_ID }]);
      await insertRows(clickhouse, 'mention_vectors', [{ ...row, explored }]);
      if (days === 89 || !explored) wanted.push(row.event_id);
    }
    for (const table of ['mentions', 'mention_vectors']) {
      await clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
      const kept = await selectRows<{ event_id: string }>(
        clickhouse,
        `SELECT event_id FROM ${table} WHERE account_id = {accountId: UUID} ORDER BY occurred_at DESC`,
        { accountId },
      );
      expect(kept.map(({ event_id }) => event_id)).toEqual(wanted);
    }
    await clickhouse.close();
  });

  it('loses its vector after 90 days, also if the vector was stored before the column `explored` existed', async () => {
    const earlier = await openClickHouse(stores.clickhouseUrl, 'spec');
    const accountId = randomUUID();
    const at = DateTime.utc().minus({ days: 91 }).toFormat('yyyy-MM-dd HH:mm:ss.SSS');
    const [explored, ofWatch, ofKeyword] = [randomUUID(), randomUUID(), randomUUID()];
    const rowOf = (id: string) => ({ account_id: accountId, occurred_at: at, event_id: id });
    await insertRows(earlier, 'mentions', [rowOf(ofWatch)]);
    await insertRows(earlier, 'mention_vectors', [
      rowOf(explored),
      rowOf(ofWatch),
      { ...rowOf(ofKeyword), keyword_id: randomUUID() },
    ]);
    await earlier.command({ query: 'TRUNCATE TABLE table_versions' });
    await earlier.close();
    const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
    await until('the statements of the release have run', async () => {
      const query = 'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
      return (await selectRows(clickhouse, query)).length === 0;
    });
    await clickhouse.command({ query: 'OPTIMIZE TABLE mention_vectors FINAL' });
    const kept = await selectRows<{ event_id: string }>(
      clickhouse,
      'SELECT event_id FROM mention_vectors WHERE account_id = {accountId: UUID}',
      { accountId },
    );
    expect(kept.map(({ event_id }) => event_id).sort()).toEqual([ofWatch, ofKeyword].sort());
    await clickhouse.close();
  });
});
