import { create, toBinary } from '@bufbuild/protobuf';
import { insertRows, selectRows } from '#clickhouse';
import { AttemptSchema, CheckSchema, EventSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import type { RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';
import { startServicesWithoutSources } from './services-without-sources.js';

let service: InterfaceUnderTest;
let others: RunningService[] = [];
let tenant: Tenant;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  service = await startInterface();
  others = await startServicesWithoutSources(service.stores);
  tenant = await service.tenant();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await bus?.close();
  await database?.destroy();
  await service?.stop();
});

const MARKER = 'planted-marker-7d1f';

/** Writes the marker to streams and tables that contain data of a keyword. */
async function writeMarkers(keywordId: string, watchId: string): Promise<void> {
  const { accountId } = tenant;
  const store = new EventStore(bus);
  const ids = { accountId, watchId, keywordId, source: 'hackernews' };
  const check = create(CheckSchema, {
    ...ids,
    checkId: newId(),
    tick: MARKER,
    finishedAt: new Date().toISOString(),
    part: 1,
    parts: 1,
    warnings: [MARKER],
    criteriaHash: 'h'.repeat(64),
    observations: [
      {
        kind: {
          case: 'listing',
          value: {
            listingId: '77',
            market: 'fr',
            observedAt: '2026-03-04T12:00:00.000Z',
            event: 'created',
            price: '12.50',
            currency: 'EUR',
            title: MARKER,
            brandIds: ['53'],
            firstSeenAt: '2026-03-04T12:00:00.000Z',
          },
        },
      },
      {
        kind: {
          case: 'answer',
          value: {
            engine: 'openai',
            prompt: MARKER,
            answeredAt: '2026-03-04T12:00:00.000Z',
            text: MARKER,
            citations: [{ url: 'https://example.org/', title: MARKER }],
          },
        },
      },
    ],
  });
  await store.publish(subjectOf('CHECKS', accountId, watchId), toBinary(CheckSchema, check), newId());
  const event = create(EventSchema, {
    ...ids,
    eventId: newId(),
    checkId: newId(),
    type: 'hn_item.created',
    occurredAt: new Date().toISOString(),
    envelope: new TextEncoder().encode(JSON.stringify({ id: MARKER })),
    matched: { item: { itemId: MARKER, text: MARKER, bodyJson: '{}' } },
  });
  await store.publish(subjectOf('EVENTS', accountId, watchId), toBinary(EventSchema, event), newId());
  const attempt = create(AttemptSchema, {
    ...ids,
    attemptId: newId(),
    eventId: newId(),
    at: new Date().toISOString(),
    message: MARKER,
  });
  await store.publish(subjectOf('ATTEMPTS', accountId, watchId), toBinary(AttemptSchema, attempt), newId());
  await insertRows(service.clickhouse, 'mentions', [
    mentionRow(accountId, { keyword_id: keywordId, watch_id: watchId, title: MARKER }),
  ]);
  await database.query('INSERT INTO seen_items VALUES ($1, $2, now())', [watchId, MARKER]);
  await database.query(
    `INSERT INTO pending_deliveries (event_id, target_kind, target_id, account_id, watch_id, source, endpoint, body,
       attempts, first_at, due_at)
     VALUES ($1, 'webhook', $1, $2, $3, 'hackernews', 'http://example.org/', $4, 1, now(), now() + interval '1 day')`,
    [newId(), accountId, watchId, Buffer.from(MARKER)],
  );
  await until('the marker is in ClickHouse', async () => (await inClickHouse(keywordId, watchId)) >= 8);
}

/** Returns the number of rows of the keyword or its watch in ClickHouse. */
async function inClickHouse(keywordId: string, watchId: string): Promise<number> {
  const counts = await Promise.all(
    ['mentions', 'events', 'activity', 'listing_observations', 'answers', 'market_days'].map(
      async (table) => {
        const condition =
          table === 'events'
            ? 'watch_id = {watchId: UUID}'
            : table === 'market_days'
              ? 'scope_id = {keywordId: String}'
              : 'keyword_id = {keywordId: UUID} OR watch_id = {watchId: UUID}';
        const rows = await selectRows<{ n: string }>(
          service.clickhouse,
          `SELECT count() AS n FROM ${table} WHERE ${condition}`,
          { keywordId, watchId },
        );
        return Number(rows[0]?.n);
      },
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns the remaining data of a keyword, by place. */
async function remaining(keywordId: string, watchId: string): Promise<Record<string, number>> {
  const found: Record<string, number> = { clickhouse: await inClickHouse(keywordId, watchId) };
  for (const [stream, id] of [
    ['KEYWORDS', keywordId],
    ['CHECKS', watchId],
    ['EVENTS', watchId],
    ['ATTEMPTS', watchId],
  ] as const) {
    const info = await bus.jsm.streams.info(stream, {
      subjects_filter: subjectOf(stream, tenant.accountId, id),
    });
    found[stream] = Object.values(info.state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  }
  for (const [table, column, id] of [
    ['keywords', 'keyword_id', keywordId],
    ['watches', 'keyword_id', keywordId],
    ['watch_schedule', 'watch_id', watchId],
    ['seen_items', 'watch_id', watchId],
    ['pending_deliveries', 'watch_id', watchId],
  ]) {
    const rows: { n: number }[] = await database.query(
      `SELECT count(*)::int AS n FROM ${table} WHERE ${column} = $1`,
      [id],
    );
    found[table ?? ''] = rows[0]?.n ?? 0;
  }
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0));
}

describe('deleting a keyword', () => {
  it('retires the keyword, which can still be read, and stops its watches [states.deleted-retires, keywords.delete, keywords.read]', async () => {
    const { id, watches } = (await tenant.api.post('/v1/keywords', keywordBody())).body;
    await writeMarkers(id, watches[0].id);
    expect((await tenant.api.delete(`/v1/keywords/${id}`)).status).toBe(204);
    const { body } = await tenant.api.get(`/v1/keywords/${id}`);
    expect([body.state, body.watches[0].isActive]).toEqual(['retired', false]);
    expect((await tenant.api.get(`/v1/keywords/${id}/results`)).body.data.length).toBe(2);
    expect((await tenant.api.delete(`/v1/keywords/${id}`)).status).toBe(204);
    await until('nothing is due any more', async () => !(await remaining(id, watches[0].id)).watch_schedule);
  });

  it.each([false, true])(
    'removes the keyword, but nothing of other keywords, from every store if purge=true (retired before: %s) [states.purged, keywords.purge]',
    async (retired) => {
      const { id, watches } = (await tenant.api.post('/v1/keywords', keywordBody())).body;
      const kept = (await tenant.api.post('/v1/keywords', keywordBody())).body;
      await until('both are scheduled', async () =>
        (await remaining(id, watches[0].id)).watch_schedule &&
        (await remaining(kept.id, kept.watches[0].id)).watch_schedule
          ? true
          : false,
      );
      await writeMarkers(id, watches[0].id);
      await writeMarkers(kept.id, kept.watches[0].id);
      const before = await remaining(kept.id, kept.watches[0].id);
      if (retired) await tenant.api.delete(`/v1/keywords/${id}`);
      expect((await tenant.api.delete(`/v1/keywords/${id}?purge=true`)).status).toBe(204);
      expect((await tenant.api.get(`/v1/keywords/${id}`)).status).toBe(404);
      await until(
        'nothing is left',
        async () => Object.keys(await remaining(id, watches[0].id)).length === 0,
      );
      expect(await remaining(kept.id, kept.watches[0].id)).toEqual(before);
      const stats = (query: string) =>
        tenant.api.get(`/v1/vinted/market-stats?from=2026-03-04&to=2026-03-05&${query}`);
      expect((await stats(`keyword_id=${kept.id}`)).body.data).toMatchObject([{ n: 1, min: 12.5 }]);
      expect((await stats('brand_id=53&market=fr')).body.data).toMatchObject([{ n: 1, newListings: 1 }]);
      expect((await tenant.api.delete(`/v1/keywords/${id}?purge=true`)).status).toBe(404);
      for (const path of [`/v1/keywords/${id}/results`, `/v1/hackernews/watches/${watches[0].id}/events`])
        expect((await tenant.api.get(path)).status).toBe(404);
    },
  );
});
