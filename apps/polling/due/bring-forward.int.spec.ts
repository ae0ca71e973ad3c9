import { openPollingStores, type PollingStores } from '../testing/polling-under-test.js';
import { bringForwardFar } from './bring-forward.js';
import { claimDue } from './claim-due.js';

let stores: PollingStores;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());

/** Sets the next check of a watch with an interval of a minute. */
async function watchDueIn(query: string, minutes: number): Promise<string> {
  const watchId = await stores.watch({ query, intervalSeconds: 60 });
  await stores.database.query(
    `WITH w AS (UPDATE watch_schedule SET due_second = second_of(now() + make_interval(mins => $2)) WHERE watch_id = $1
       RETURNING search_number, time_of(due_second) AS due)
     UPDATE upstream_searches s SET next_due_at = w.due FROM w WHERE s.search_number = w.search_number`,
    [watchId, minutes],
  );
  return watchId;
}

it('a watch is due again after the clock was set back by an hour, and the next check of other watches stays', async () => {
  const far = await watchDueIn('far', 60);
  await watchDueIn('near', 1);
  await bringForwardFar(stores.database);
  const due = await claimDue(stores.database, 'hackernews:0', 10);
  expect(due.flatMap(({ watches }) => watches.map(({ watchId }) => watchId))).toEqual([far]);
});
