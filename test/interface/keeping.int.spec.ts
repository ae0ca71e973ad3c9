import { insertRows, type EventRow } from '#clickhouse';
import { derivedId, newId } from '#kernel';
import { connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import type { Json } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await service?.stop();
});

const DAY_MS = 24 * 3_600_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const made = async (more: Record<string, unknown> = {}): Promise<Json> =>
  (await ada.api.post('/v1/keywords', keywordBody(more))).body;
const idsOf = (answer: { body: Json }) => answer.body.data.map(({ id }: Json) => id);

const eventRow = (watchId: string, occurredAt: string): EventRow => {
  const id = derivedId('spec', watchId, occurredAt);
  return {
    watch_id: watchId,
    occurred_at: occurredAt,
    event_id: id,
    account_id: ada.accountId,
    push: true,
    type: 'hn_item.created',
    stream_seq: 0,
    envelope: JSON.stringify({
      id,
      type: 'hn_item.created',
      watchId,
      keywordId: null,
      listing: null,
      tweet: null,
      post: null,
      video: null,
      item: { id: 'hn:1', source: 'hackernews', url: null, author: null, publishedAt: null },
      article: null,
      answer: null,
      previousPrice: null,
      occurredAt,
      ai: null,
    }),
  };
};

describe('the retention of events', () => {
  it('is 90 days in the stream EVENTS and in the table of events [limits.retention]', async () => {
    const { config } = await bus.jsm.streams.info('EVENTS');
    expect(config.max_age).toBe(90 * DAY_MS * 1_000_000);
    const tables = await service.clickhouse.query({
      query: `SELECT name FROM system.tables WHERE database = currentDatabase()
          AND create_table_query LIKE '%TTL toDateTime(occurred\\_at) + toIntervalDay(90)%' ORDER BY name`,
      format: 'JSONEachRow',
    });
    const names = (await tables.json<{ name: string }>()).map(({ name }) => name);
    expect(names).toContain('events');
    const [watch] = (await made()).watches;
    const rows = [eventRow(watch.id, daysAgo(89)), eventRow(watch.id, daysAgo(1))];
    await insertRows(service.clickhouse, 'events', rows);
    const path = `/v1/hackernews/watches/${watch.id}/events`;
    const all = await ada.api.get(`${path}?since=2000-01-01T00:00:00Z`);
    expect([all.status, idsOf(all)]).toEqual([200, rows.map((row) => row.event_id)]);
    expect(idsOf(await ada.api.get(path))).toEqual([rows[1]?.event_id]);
  });

  it('keeps the mentions of a keyword when a search of the keyword starts over [states.mentions-kept, states.search-started-over]', async () => {
    const keyword = await made();
    const before = keyword.watches[0].id;
    const old = mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: before });
    await insertRows(service.clickhouse, 'mentions', [old]);
    const { body } = await ada.api.patch(`/v1/queries/${keyword.id}`, {
      globalCriteria: { market: 'global', query: 'another' },
    });
    expect(body.resetSearches).toEqual([
      {
        source: 'hackernews',
        searchId: keyword.watches[0].searchId,
        label: null,
        previousWatchId: before,
        watchId: body.watches[0].id,
      },
    ]);
    expect(body.watches).toHaveLength(1);
    const found = mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: body.watches[0].id });
    await insertRows(service.clickhouse, 'mentions', [found]);
    const results = await ada.api.get(`/v1/queries/${keyword.id}/results`);
    expect(new Set(idsOf(results))).toEqual(new Set([old.event_id, found.event_id]));
  });

  it('keeps a retired keyword readable, with its mentions and its events [states.retired-readable]', async () => {
    const keyword = await made();
    const [watch] = keyword.watches;
    const row = mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: watch.id });
    const event = eventRow(watch.id, daysAgo(0));
    await insertRows(service.clickhouse, 'mentions', [row]);
    await insertRows(service.clickhouse, 'events', [event]);
    expect((await ada.api.delete(`/v1/queries/${keyword.id}`)).status).toBe(204);
    expect((await ada.api.get(`/v1/keywords/${keyword.id}`)).body).toMatchObject({
      id: keyword.id,
      state: 'retired',
    });
    expect(idsOf(await ada.api.get(`/v1/keywords/${keyword.id}/results`))).toEqual([row.event_id]);
    expect(idsOf(await ada.api.get(`/v1/hackernews/watches/${watch.id}/events`))).toEqual([event.event_id]);
  });
});

describe('reading own data', () => {
  it('costs nothing [limits.free-reads, limits.free-estimate]', async () => {
    const { api } = await service.tenant();
    const keyword = (await api.post('/v1/keywords', keywordBody())).body;
    const [watch] = keyword.watches;
    for (const path of [
      '/v1/mentions',
      `/v1/keywords/${keyword.id}`,
      `/v1/keywords/${keyword.id}/results`,
      `/v1/keywords/${keyword.id}/activity`,
      '/v1/hackernews/watches',
      `/v1/hackernews/watches/${watch.id}/events`,
    ])
      expect([path, (await api.get(path)).status]).toEqual([path, 200]);
    expect((await api.post('/v1/keywords/estimate', keywordBody())).body.valid).toBe(true);
    expect((await api.get('/v1/mentions')).body.meta).toEqual({ credits_used: 0 });
    // The charges for checks, lookups and readings follow from facts in these streams.
    for (const stream of ['CHECKS', 'LOOKUPS', 'EVENTS'])
      expect((await bus.jsm.streams.info(stream)).state.messages).toBe(0);
    expect((await api.get('/v1/credits')).body.usedThisPeriod).toBe(0);
  });

  it('has the documented default time ranges [limits.window-mentions, limits.window-results]', async () => {
    const keyword = await made();
    const row = (days: number) =>
      mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: newId(), occurred_at: daysAgo(days) });
    const rows = [row(0.99), row(1.01), row(29.9), row(30.1)];
    await insertRows(service.clickhouse, 'mentions', rows);
    const ids = rows.map((one) => one.event_id);
    const read = async (path: string) =>
      (idsOf(await ada.api.get(path)) as string[]).filter((id) => ids.includes(id));
    expect(await read('/v1/mentions')).toEqual(ids.slice(0, 1));
    expect(await read(`/v1/mentions?since=${daysAgo(40)}`)).toEqual(ids);
    expect(await read(`/v1/queries/${keyword.id}/results`)).toEqual(ids.slice(0, 3));
    const { since } = (await ada.api.get('/v1/mentions')).body;
    expect(Math.abs(Date.parse(since) - (Date.now() - DAY_MS))).toBeLessThan(10_000);
  });
});
