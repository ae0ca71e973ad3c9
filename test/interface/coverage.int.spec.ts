import { insertRows, NO_ID, type ActivityRow } from '#clickhouse';
import { isoOf, newId } from '#kernel';
import type { Json } from '#testing';
import { openDatabase, type Database } from '#postgres';
import { MAX_RUNS } from '../../apps/gateway/reads/coverage-reads.js';
import { keywordBody, mentionRow, startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;
let database: Database;

beforeAll(async () => {
  service = await startInterface();
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await service?.stop();
});

const MINUTE = 60_000;

/** Returns a successful check that read from `from` to `to` (in ms). */
function checkOf(
  { accountId, keywordId, watchId }: { accountId: string; keywordId: string; watchId: string },
  [from, to]: [from: number, to: number],
  more: Partial<ActivityRow> = {},
): ActivityRow {
  return {
    account_id: accountId,
    keyword_id: keywordId,
    watch_id: watchId,
    activity_id: newId(),
    source: 'hackernews',
    occurred_at: isoOf(to),
    type: 'poll.completed',
    message: '',
    events_emitted: 0,
    credits_charged: 1,
    event_id: null,
    status_code: null,
    window_from: isoOf(from),
    window_to: isoOf(to),
    gap: false,
    ...more,
  };
}

describe('GET /v1/keywords/{id}/coverage', () => {
  it('shows for each search what was covered, what was missed and why, and the lag [coverage.windows, coverage.lag]', async () => {
    const { accountId, api } = await service.tenant();
    const { id, watches } = (await api.post('/v1/keywords', keywordBody())).body;
    const [{ id: watchId }] = watches;
    const start = Date.now() - 60 * MINUTE;
    await database.query('UPDATE watches SET created_at = $2 WHERE watch_id = $1', [
      watchId,
      new Date(start),
    ]);
    const { searchId } = (await api.get(`/v1/keywords/${id}/coverage`)).body.data[0];
    const at = (minutes: number) => isoOf(start + minutes * MINUTE);
    const check = (minutes: number, more: Partial<ActivityRow> = {}) =>
      checkOf(
        { accountId, keywordId: id, watchId },
        [start + (minutes - 1) * MINUTE, start + minutes * MINUTE],
        more,
      );
    const failed = {
      type: 'poll.failed',
      window_from: null,
      window_to: null,
      message: 'hackernews answered 503',
    };
    await insertRows<ActivityRow>(service.clickhouse, 'activity', [
      check(0, { window_from: null }),
      ...[1, 2, 3].map((minute) => check(minute)),
      // ClickHouse can contain the same row twice.
      { ...check(4, failed), activity_id: watchId },
      { ...check(4, failed), activity_id: watchId },
      check(5, failed),
      check(6, { window_from: at(3) }),
      // This check was made after the requested window, and read the end of the window.
      check(9, { window_from: at(7) }),
      check(7, { gap: true, message: 'more was published' }),
      check(2, { type: 'webhook.delivered', message: 'no check' }),
      check(2, { watch_id: newId(), message: 'of another watch' }),
    ]);
    const found = (lagSeconds: number, more = {}) =>
      mentionRow(accountId, {
        // The source has no `searches`, so its mentions have no id of a search.
        ...{ keyword_id: id, watch_id: watchId, search_id: NO_ID, occurred_at: at(2).replace('Z', '') },
        ...{ published_at: isoOf(Date.parse(at(2)) - lagSeconds * 1000).replace('Z', '') },
        ...more,
      });
    await insertRows(service.clickhouse, 'mentions', [
      ...[10, 20, 30].map((lag) => found(lag)),
      found(9000, { backfilled: true }),
    ]);
    const query = `since=${at(0)}&until=${at(8)}`;
    const { status, body } = await api.get(`/v1/keywords/${id}/coverage?${query}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          ...{ searchId, source: 'hackernews', watchId, nextCheckAt: null, lagSeconds: { p50: 20, p95: 29 } },
          windows: [
            { from: at(0), to: at(3), status: 'covered', reason: null },
            {
              from: at(3),
              to: at(5),
              status: 'covered',
              reason: 'read later, after: hackernews answered 503',
            },
            { from: at(5), to: at(6), status: 'covered', reason: null },
            { from: at(6), to: at(7), status: 'gap', reason: 'more was published' },
            { from: at(7), to: at(8), status: 'covered', reason: null },
          ],
        },
      ],
      ...{ since: at(0), until: at(8) },
    });
  });

  it('begins later than requested if the status changes too often, and an earlier `until` returns the rest [coverage.windows]', async () => {
    const { accountId, api } = await service.tenant();
    const searches = ['flapping', 'failing', 'rare'].map((query) => ({
      overrides_enabled: true,
      overrides: { query },
    }));
    const sources = [{ source: 'hackernews', enabled: true, searches }];
    const { id, watches } = (await api.post('/v1/keywords', keywordBody({ sources }))).body;
    const start = Date.now() - 120 * MINUTE;
    await database.query('UPDATE watches SET created_at = $2 WHERE keyword_id = $1', [id, new Date(start)]);
    const ms = (seconds: number) => start + seconds * 1000;
    const check = (of: number, [from, to]: [number, number], more: Partial<ActivityRow> = {}) =>
      checkOf({ accountId, keywordId: id, watchId: watches[of].id }, [ms(from), ms(to)], more);
    const failed = { type: 'poll.failed', window_from: null, window_to: null, message: '503' } as const;
    // A run consists of consecutive checks with the same outcome.
    const LAST = MAX_RUNS + 30;
    await insertRows<ActivityRow>(service.clickhouse, 'activity', [
      // Each second, the outcome of the first search changes.
      ...Array.from({ length: LAST }, (_, n) =>
        check(0, [n, n + 1], { gap: n % 2 === 1, message: n % 2 === 1 ? 'too much' : '' }),
      ),
      check(1, [0, 5]),
      check(1, [0, LAST - 0.5], failed),
      check(2, [0, 5]),
    ]);
    const read = async (query: string) => {
      const { body } = await api.get(`/v1/keywords/${id}/coverage?${query}`);
      const windowsOf = (of: number) =>
        body.data.find(({ watchId }: Json) => watchId === watches[of].id).windows;
      return { body, windows: [0, 1, 2].map(windowsOf) };
    };
    const until = isoOf(ms(LAST));
    const late = await read(`since=${isoOf(ms(0))}&until=${until}`);
    // The newest runs are the failure and all but the first 31 runs of the first search.
    const since = isoOf(ms(31));
    expect(late.body).toMatchObject({ since, until });
    expect(late.windows[0]).toHaveLength(LAST - 31);
    expect(late.windows[0][0]).toMatchObject({ from: since, to: isoOf(ms(32)), status: 'gap' });
    expect(late.windows.slice(1)).toEqual([
      [{ from: since, to: until, status: 'failed', reason: '503' }],
      [],
    ]);

    const early = await read(`since=${isoOf(ms(0))}&until=${since}`);
    expect(early.body).toMatchObject({ since: isoOf(ms(0)), until: since });
    expect(early.windows[0]).toHaveLength(31);
    const covered = { from: isoOf(ms(0)), to: isoOf(ms(5)), status: 'covered', reason: null };
    expect(early.windows.slice(1)).toEqual([
      [covered, { from: isoOf(ms(5)), to: since, status: 'failed', reason: '503' }],
      [covered],
    ]);
  });

  it('returns 404 for another account’s keyword, and 400 for a window of more than 90 days', async () => {
    const [ada, bob] = [await service.tenant(), await service.tenant()];
    const { id } = (await ada.api.post('/v1/keywords', keywordBody())).body;
    expect((await bob.api.get(`/v1/keywords/${id}/coverage`)).status).toBe(404);
    const wide = await ada.api.get(`/v1/queries/${id}/coverage?since=2026-01-01T00:00:00Z`);
    expect([wide.status, wide.body.details]).toEqual([
      400,
      [{ path: 'since', message: 'must be at most 90 days before until' }],
    ]);
  });
});
