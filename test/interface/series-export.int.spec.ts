import { parse } from 'csv-parse/sync';
import { request } from 'undici';
import { insertRows, NO_ID } from '#clickhouse';
import { newId } from '#kernel';
import { ApiClient } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;
const KEYWORD = newId();
const at = (text: string) => `2026-03-${text}Z`;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant();
  const row = (occurred_at: string, more = {}) =>
    mentionRow(ada.accountId, { occurred_at, keyword_id: KEYWORD, ...more });
  await insertRows(service.clickhouse, 'mentions', [
    row(at('04T10:00:00.000'), {
      title: '=HYPERLINK("http://evil")',
      text: 'a, "quoted"\nline',
      labels: ['starred'],
    }),
    row(at('04T10:59:59.999'), { source: 'reddit', sentiment: 'positive' }),
    row(at('04T11:00:00.000'), { source: 'reddit', corrected_sentiment: 'negative', sentiment: 'positive' }),
    row(at('06T00:00:00.000'), { likes: 7 }),
    row(at('06T01:00:00.000'), { dropped_reason: 'muted' }),
  ]);
});
afterAll(() => service?.stop());

const WINDOW = 'since=2026-03-04T09:30:00Z&until=2026-03-04T12:00:00Z';
const series = async (query: string) => (await ada.api.get(`/v1/mentions/series?${query}`)).body;

describe('GET /v1/mentions/series', () => {
  it('counts mentions by hour, including hours without mentions', async () => {
    const { data, bucket, since, until } = await series(`bucket=hour&${WINDOW}`);
    expect(data).toEqual([
      { at: at('04T09:00:00.000'), group: null, count: 0 },
      { at: at('04T10:00:00.000'), group: null, count: 2 },
      { at: at('04T11:00:00.000'), group: null, count: 1 },
    ]);
    expect([bucket, since, until]).toEqual(['hour', at('04T09:30:00.000'), at('04T12:00:00.000')]);
  });

  it('counts by day and group, with the corrected sentiment', async () => {
    const window = 'since=2026-03-04T00:00:00Z&until=2026-03-07T00:00:00Z';
    const { data } = await series(`${window}&group=sentiment`);
    const day = (text: string, group: string | null, count: number) => ({
      at: at(`${text}T00:00:00.000`),
      group,
      count,
    });
    expect(data).toEqual([
      ...[day('04', null, 1), day('04', 'negative', 1), day('04', 'positive', 1)],
      ...[day('05', null, 0), day('05', 'negative', 0), day('05', 'positive', 0)],
      ...[day('06', null, 1), day('06', 'negative', 0), day('06', 'positive', 0)],
    ]);
    const bySource = (await series(`${window}&group=source&source=reddit`)).data;
    expect(bySource.map(({ group, count }: { group: string; count: number }) => [group, count])).toEqual([
      ['reddit', 2],
      ['reddit', 0],
      ['reddit', 0],
    ]);
    const byKeyword = (await series(`${window}&group=keyword&include=dropped`)).data;
    expect(byKeyword.at(-1)).toEqual(day('06', KEYWORD, 2));
  });

  it('counts mentions of watches without a keyword in the group null', async () => {
    const lone = await service.tenant();
    const row = mentionRow(lone.accountId, { keyword_id: NO_ID, occurred_at: at('04T10:00:00.000') });
    await insertRows(service.clickhouse, 'mentions', [row]);
    const window = 'since=2026-03-04T00:00:00Z&until=2026-03-05T00:00:00Z';
    const { body } = await lone.api.get(`/v1/mentions/series?bucket=day&group=keyword&${window}`);
    expect(body.data).toEqual([{ at: at('04T00:00:00.000'), group: null, count: 1 }]);
  });

  it('returns zeros for an account without mentions, and never another account’s counts', async () => {
    const bob = await service.tenant();
    const { body } = await bob.api.get(`/v1/mentions/series?bucket=hour&${WINDOW}`);
    expect(body.data.map(({ count }: { count: number }) => count)).toEqual([0, 0, 0]);
  });

  it('refuses unknown values, and a period with more hours than an answer can have', async () => {
    const wide = await ada.api.get('/v1/mentions/series?bucket=hour&since=2020-01-01T00:00:00Z');
    expect([wide.status, wide.body.details[0].path]).toEqual([400, 'since']);
    const wrong = await ada.api.get('/v1/mentions/series?bucket=week&group=colour');
    expect(wrong.body.details.map(({ path }: { path: string }) => path)).toEqual(['bucket', 'group']);
  });
});

describe('GET /v1/mentions/top', () => {
  it('lists the most frequent authors, communities or terms per source, with the filters of the list', async () => {
    const carol = await service.tenant();
    const row = (author: string | null, source: string, more = {}) =>
      mentionRow(carol.accountId, { author, source, occurred_at: at('04T10:00:00.000'), ...more });
    await insertRows(service.clickhouse, 'mentions', [
      ...[
        row('ann', 'reddit', { matched_terms: ['acme', 'zenith'], community: 'r/a' }),
        row('ann', 'reddit'),
      ],
      ...[row('ann', 'x'), row('bo', 'x'), row(null, 'x', { dropped_reason: 'muted' })],
    ]);
    const top = async (query: string) =>
      (await carol.api.get(`/v1/mentions/top?since=2026-03-01T00:00:00Z&until=2026-03-07T00:00:00Z&${query}`))
        .body.data;
    expect(await top('limit=2')).toEqual([
      { value: 'ann', source: 'reddit', count: 2 },
      { value: 'ann', source: 'x', count: 1 },
    ]);
    expect(await top('by=community')).toEqual([{ value: 'r/a', source: 'reddit', count: 1 }]);
    expect(await top('by=term&source=reddit')).toEqual([
      { value: 'acme', source: 'reddit', count: 2 },
      { value: 'zenith', source: 'reddit', count: 1 },
    ]);
    expect((await carol.api.get('/v1/mentions/top?by=colour')).status).toBe(400);
  });

  it.each(['series', 'top'])(
    'refuses a window of /v1/mentions/%s that begins in the future',
    async (path) => {
      const answer = await ada.api.get(`/v1/mentions/${path}?since=2999-01-01T00:00:00Z`);
      expect([answer.status, answer.body.details]).toEqual([
        400,
        [{ path: 'since', message: 'must not be later than until' }],
      ]);
    },
  );
});

async function exported(query: string, tenant = ada) {
  const answer = await request(`${service.url}/v1/mentions/export?${query}`, {
    headers: { 'x-api-key': tenant.api.apiKey },
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}
const MARCH = 'since=2026-03-01T00:00:00Z&until=2026-04-01T00:00:00Z';

describe('GET /v1/mentions/export', () => {
  it('streams NDJSON that equals the list of mentions', async () => {
    const { headers, text } = await exported(MARCH);
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    const { body } = await ada.api.get(`/v1/mentions?${MARCH}&order=asc`);
    expect(lines).toEqual(body.data);
  });

  it('names the columns of a CSV, quotes special values, and neutralizes formulas', async () => {
    const { headers, text } = await exported(`${MARCH}&format=csv`);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const rows = parse(text, { columns: true }) as Record<string, string>[];
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatchObject({
      occurredAt: at('04T10:00:00.000'),
      keywordId: KEYWORD,
      title: `'=HYPERLINK("http://evil")`,
      text: 'a, "quoted"\nline',
      labels: 'starred',
      vip: 'false',
      'engagement.likes': '',
    });
    expect(rows[3]?.['engagement.likes']).toBe('7');
  });

  it('continues after a given row, without a second header line', async () => {
    const whole = (await exported(`${MARCH}&format=csv`)).text.trimEnd();
    const all = parse(whole, { columns: true }) as { id: string }[];
    const rest = await exported(`${MARCH}&format=csv&after=${all[1]?.id}`);
    const behind = parse(rest.text) as string[][];
    expect(behind.map(([id]) => id)).toEqual(all.slice(2).map(({ id }) => id));
    expect((await exported(`${MARCH}&after=${all.at(-1)?.id}`)).text).toBe('');
  });

  it('streams every row of many pages once, in order, and filters as the list does', async () => {
    const bob = await service.tenant();
    const rows = Array.from({ length: 1234 }, (_, n) =>
      mentionRow(bob.accountId, {
        // Several rows have the same time at the ends of pages.
        occurred_at: `2026-03-05T00:00:${String(Math.floor(n / 100)).padStart(2, '0')}.000Z`,
        source: n % 2 ? 'reddit' : 'hackernews',
      }),
    );
    await insertRows(service.clickhouse, 'mentions', rows);
    const idsOf = ({ text }: { text: string }) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
    const ids = idsOf(await exported(MARCH, bob));
    expect([ids.length, new Set(ids).size]).toEqual([1234, 1234]);
    expect(idsOf(await exported(`${MARCH}&order=desc`, bob))).toEqual(ids.toReversed());
    expect(idsOf(await exported(`${MARCH}&source=reddit`, bob))).toHaveLength(617);
  });

  it('refuses a row of another account, an unknown row, and an unknown format', async () => {
    const bob = await service.tenant();
    const foreign = (await ada.api.get(`/v1/mentions?${MARCH}`)).body.data[0].id;
    for (const after of [foreign, newId(), 'x']) {
      const { status, text } = await exported(`after=${after}`, bob);
      expect([status, JSON.parse(text).details[0].path]).toEqual([400, 'after']);
    }
    expect((await exported('format=xlsx')).status).toBe(400);
  });
});

describe('the events of a keyword and the activity of a watch', () => {
  it('are returned page by page under their own paths, but not to another account', async () => {
    const { body: keyword } = await ada.api.post('/v1/keywords', keywordBody());
    const watchId = keyword.watches[0].id;
    const event = (watch_id: string, id: string, second: number) => ({
      watch_id,
      event_id: id,
      account_id: ada.accountId,
      occurred_at: new Date(Date.now() - 60_000 + second * 1000).toISOString(),
      push: true,
      type: 'x',
      stream_seq: second,
      envelope: JSON.stringify({ id }),
    });
    const [own, caught] = [newId(), newId()];
    await insertRows(service.clickhouse, 'events', [event(watchId, caught, 1), event(keyword.id, own, 2)]);
    // The envelopes are not real, so they are not compared with the description.
    const api = new ApiClient(service.url, ada.api.apiKey);
    for (const name of ['keywords', 'queries']) {
      const { body } = await api.get(`/v1/${name}/${keyword.id}/events`);
      expect(body.data).toEqual([{ id: caught }, { id: own }]);
      const first = (await api.get(`/v1/${name}/${keyword.id}/events?limit=1`)).body;
      const second = await api.get(`/v1/${name}/${keyword.id}/events?limit=1&cursor=${first.nextCursor}`);
      expect([first.data, second.body.data]).toEqual([[{ id: caught }], [{ id: own }]]);
    }
    const bob = await service.tenant();
    expect((await bob.api.get(`/v1/keywords/${keyword.id}/events`)).status).toBe(404);

    const record = (watch_id: string, activity_id: string) => ({
      account_id: ada.accountId,
      keyword_id: keyword.id,
      occurred_at: new Date().toISOString(),
      activity_id,
      watch_id,
      source: 'hackernews',
      type: 'poll.completed',
      events_emitted: 1,
      credits_charged: 1,
      event_id: null,
      status_code: null,
      message: '',
    });
    const mine = newId();
    await insertRows(service.clickhouse, 'activity', [record(watchId, mine), record(newId(), newId())]);
    const path = `/v1/hackernews/watches/${watchId}/activity`;
    const { body } = await ada.api.get(path);
    expect(body.activity.map(({ id }: { id: string }) => id)).toEqual([mine]);
    expect((await bob.api.get(path)).status).toBe(404);
    expect((await ada.api.get(`/v1/rss/watches/${watchId}/activity`)).status).toBe(404);
    expect((await ada.api.get(`${path}?limit=501`)).status).toBe(400);
  });
});
