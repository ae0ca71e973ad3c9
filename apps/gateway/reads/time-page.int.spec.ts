import fc from 'fast-check';
import { insertRows, openClickHouse, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import { newId } from '#kernel';
import { isolateStores, type IsolatedStores } from '#testing';
import { ACTIVITY } from './activity-reads.js';
import { cursorAfter, readPage, type TimePage } from './time-page.js';

let stores: IsolatedStores;
let clickhouse: ClickHouseClient;
beforeAll(async () => {
  stores = await isolateStores();
  clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
});
afterAll(async () => {
  await clickhouse?.close();
  await stores?.drop();
});

// A time that is within the retention of the table.
const START = Date.now() - 3_600_000;
const instant = (ms: number) => new Date(START + ms);

/** Returns a unique row at this time in ms. */
function rowAt(accountId: string, ms: number): ActivityRow {
  return {
    account_id: accountId,
    keyword_id: accountId,
    occurred_at: instant(ms).toISOString(),
    activity_id: newId(),
    watch_id: accountId,
    source: 'rss',
    type: 'poll.completed',
    events_emitted: 0,
    credits_charged: 1,
    event_id: null,
    status_code: null,
    message: '',
  };
}

it('pages of 1 to 8 rows return each row only once and in order, even if rows have the same time [requests.stable-paging]', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Few instants, so that some rows have the same instant. The second number states how often the row is written; at
      // most three times.
      fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 20 })), {
        maxLength: 25,
      }),
      fc.integer({ min: 1, max: 8 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 0, max: 3 }),
      fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      async (written, limit, order, from, to) => {
        const accountId = newId();
        const rows = written.map(([ms, times]) => ({ row: rowAt(accountId, ms), ms, times }));
        // ClickHouse would remove duplicates within one insert.
        for (const time of [1, 2, 3])
          await insertRows(
            clickhouse,
            'activity',
            rows.filter(({ times }) => times >= time).map(({ row }) => row),
          );
        const read: ActivityRow[] = [];
        let after: TimePage['after'];
        do {
          const page: TimePage = {
            since: instant(from),
            until: to === undefined ? undefined : instant(to),
            order,
            limit,
            after,
          };
          const found = await readPage(
            clickhouse,
            ACTIVITY,
            ['account_id = {accountId: UUID}'],
            { accountId },
            page,
          );
          read.push(...found.slice(0, limit));
          after = cursorAfter(ACTIVITY, found, page)?.after;
        } while (after);
        const wanted = rows
          .filter(({ ms }) => ms >= from && (to === undefined || ms < to))
          .sort((a, b) => a.ms - b.ms || (a.row.activity_id < b.row.activity_id ? -1 : 1))
          .map(({ row }) => row.activity_id);
        expect(read.map(({ activity_id }) => activity_id)).toEqual(
          order === 'asc' ? wanted : wanted.reverse(),
        );
      },
    ),
    {
      numRuns: 60,
      // Every row is written three times, so that the first query does not find a full page.
      examples: [
        [Array.from({ length: 20 }, (_, ms) => [ms, 3] as [number, number]), 8, 'desc', 0, undefined],
      ],
    },
  );
}, 60_000);

it('a page reads no more rows than it needs, even if very many rows have the same time', async () => {
  const accountId = newId();
  await insertRows(
    clickhouse,
    'activity',
    Array.from({ length: 500 }, () => rowAt(accountId, 1)),
  );
  const counts: number[] = [];
  const query: ClickHouseClient['query'] = async (params) => {
    const result = await clickhouse.query(params);
    const json = async () => {
      const rows = await (result as { json(): Promise<unknown[]> }).json();
      counts.push(rows.length);
      return rows;
    };
    return { json } as never;
  };
  const page: TimePage = { since: instant(0), until: undefined, order: 'desc', limit: 5, after: undefined };
  const found = await readPage(
    { query } as ClickHouseClient,
    ACTIVITY,
    ['account_id = {accountId: UUID}'],
    { accountId },
    page,
  );
  expect([found.length, counts.length]).toEqual([6, 1]);
  expect(counts[0]).toBeLessThan(20);
});
