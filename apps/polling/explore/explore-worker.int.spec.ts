import { PRICE_BOOK_VERSION } from '#contracts';
import { newId } from '#kernel';
import { createLogger } from '#telemetry';
import { fundAccount, until } from '#testing';
import { openPollingStores, Upstream, workerOn, type PollingStores } from '../testing/polling-under-test.js';
import { ExploreDecisions } from './explore-decisions.js';
import { queuedExplores } from './explore-jobs.js';
import { ExploreWorker } from './explore-worker.js';

let stores: PollingStores;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());

it('an Explore waits while its lane has checks to do, and asks its source when the lane has none', async () => {
  const { database, store } = stores;
  const [accountId, exploreId] = [newId(), newId()];
  await fundAccount(database, accountId, 10);
  await new ExploreDecisions(database, store).decide(
    { accountId, exploreId, commandId: exploreId },
    async () => ({
      kind: 'request',
      ...{ question: 'acme', market: 'global', limit: 25, sources: ['hackernews'], terms: [], feedUrls: [] },
      ...{ creditsQuoted: 2, priceBookVersion: PRICE_BOOK_VERSION, running: 0 },
    }),
  );
  const upstream = new Upstream();
  const { lane } = workerOn(upstream, stores);
  let isIdle = false;
  const log = createLogger('spec', 'silent');
  const worker = new ExploreWorker(lane, () => isIdle, queuedExplores(database), database, store, log, 10);
  worker.start();
  await until('the worker has claimed the Explore and given it back', async () => {
    const rows: { given: boolean }[] = await database.query(
      'SELECT claim IS NULL AND claimed_until > now() AS given FROM explore_sources WHERE explore_id = $1',
      [exploreId],
    );
    return rows[0]?.given;
  });
  expect(upstream.requests).toEqual([]);
  isIdle = true;
  await until('the source has answered', async () => {
    const rows: { status: string }[] = await database.query(
      'SELECT status FROM explore_sources WHERE explore_id = $1',
      [exploreId],
    );
    return rows[0]?.status === 'done';
  });
  await worker.stop();
  expect(upstream.requests).toHaveLength(1);
});
