import { create, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { insertRows, selectRows, type ClickHouseClient, type ListingObservationRow } from '#clickhouse';
import { PurgeSchema } from '#contracts';
import { newId } from '#kernel';
import { countMarketDay, touchedDays } from '../readmodels/market-days.js';
import { DigestsUnderTest } from '../testing/digests-under-test.js';
import { PurgeHandler } from './purge.handler.js';

let fixture: DigestsUnderTest;

beforeAll(async () => {
  fixture = await DigestsUnderTest.open();
});
afterAll(() => fixture?.close());

const accountId = newId();

function observation(keywordId: string, brandId: string, criteriaHash: string): ListingObservationRow {
  const at = '2026-03-04 10:00:00.000';
  return {
    ...{ account_id: accountId, keyword_id: keywordId, watch_id: newId(), criteria_hash: criteriaHash },
    ...{ market: 'de', listing_id: newId(), observed_at: at, first_seen_at: at, event: 'created' },
    ...{ price: '10', previous_price: null, currency: 'EUR' },
    ...{ title: 't', url: '', brand: '', brand_ids: [brandId], catalog_ids: [] },
  };
}

/** Stores an observation and counts its day, as the sink of a check does. */
async function observe(row: ListingObservationRow): Promise<void> {
  await insertRows(fixture.clickhouse, 'listing_observations', [row]);
  for (const day of touchedDays([row])) await countMarketDay(fixture.clickhouse, day);
}

/** Returns a client that does something once, before it starts a statement that begins with `query`. */
function clientThatFirst(does: () => Promise<void>, query: string): ClickHouseClient {
  const { clickhouse } = fixture;
  let isDone = false;
  const command: ClickHouseClient['command'] = async (params) => {
    if (!isDone && params.query.startsWith(query)) {
      isDone = true;
      await does();
    }
    return clickhouse.command(params);
  };
  return new Proxy(clickhouse, {
    get: (target, key) => (key === 'command' ? command : Reflect.get(target, key, target)),
  });
}

it('a purge keeps the market statistics that a check of another keyword adds during the purge [keywords.purge]', async () => {
  const [purged, other] = [newId(), newId()];
  await observe(observation(purged, 'brand of the purged keyword', 'search of the purged keyword'));
  const clickhouse = clientThatFirst(
    () => observe(observation(other, 'brand of the other keyword', 'search of the other keyword')),
    'ALTER TABLE listing_observations DELETE',
  );
  const purge = create(PurgeSchema, { accountId, keywordId: purged, watchIds: [] });
  await new PurgeHandler(clickhouse, fixture.database, fixture.store).handle([
    { data: toBinary(PurgeSchema, purge), time: new Date() } as JsMsg,
  ]);
  const rows = await selectRows(
    fixture.clickhouse,
    'SELECT scope, scope_id, n FROM market_days FINAL WHERE account_id = {accountId: UUID} ORDER BY scope',
    { accountId },
  );
  expect(rows).toEqual([
    { scope: 'brand', scope_id: 'brand of the other keyword', n: expect.anything() },
    { scope: 'keyword', scope_id: other, n: expect.anything() },
    { scope: 'search', scope_id: 'search of the other keyword', n: expect.anything() },
  ]);
});
