import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { CriteriaSchema, KeywordDecisionSchema, KeywordEventSchema } from '#contracts';
import { newId } from '#kernel';
import { applyNext } from '#projections';
import { openPollingStores, type PollingStores } from '../testing/polling-under-test.js';
import { scheduleProjection } from './schedule.projection.js';

type Event = MessageInitShape<typeof KeywordEventSchema>['event'];

const LONG = 86_400;
const SHORT = 600;
const accountId = newId();

let stores: PollingStores;
beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());

describe.each<[string, (interval: number, isPaused: boolean) => Event, (watch: object) => Event]>([
  [
    'a watch without a keyword',
    (intervalSeconds, isPaused) => ({
      case: 'watchChanged',
      value: { intervalSeconds, isActive: !isPaused },
    }),
    (watch) => ({ case: 'watchCreated', value: { watch } }),
  ],
  [
    'a watch of a keyword',
    (intervalSeconds, isPaused) => ({
      case: 'keywordChanged',
      value: { watches: [watchOf(intervalSeconds)], resting: isPaused },
    }),
    (watch) => ({ case: 'keywordCreated', value: { watches: [watch] } }),
  ],
])('the next check of %s', (_, changed, created) => {
  const subjectId = newId();
  let seq = 0;
  const apply = (event: Event) => {
    const decision = { commandId: newId(), accountId, subjectId, decidedAt: new Date().toISOString() };
    const data = toBinary(
      KeywordDecisionSchema,
      create(KeywordDecisionSchema, { ...decision, events: [{ event }] }),
    );
    const message = { subject: subjectId, seq: (seq += 1), predecessor: seq - 1, data, cause: undefined };
    return stores.database.transaction((tx) =>
      applyNext(
        tx,
        scheduleProjection(() => 1),
        message,
      ),
    );
  };
  const dueIn = async () => {
    const [row] = await stores.database.query<{ seconds: number }[]>(
      `SELECT extract(epoch FROM time_of(due_second) - now())::float8 AS seconds FROM watch_schedule
       WHERE watch_id = $1`,
      [watchIdOf(subjectId)],
    );
    return row?.seconds ?? NaN;
  };
  // A lone watch is its own subject.
  const watchIdOf = (id: string) => (created({})?.case === 'watchCreated' ? id : WATCH_ID);

  it('stays if the interval becomes shorter only during a pause, and comes sooner if the watch runs with the shorter interval', async () => {
    await apply(created({ ...watchOf(LONG), watchId: watchIdOf(subjectId) }));
    await stores.database.query(
      `UPDATE watch_schedule SET due_second = second_of(now() + interval '20 hours') WHERE watch_id = $1`,
      [watchIdOf(subjectId)],
    );
    await apply(changed(LONG, true));
    await apply(changed(SHORT, true));
    await apply(changed(LONG, true));
    await apply(changed(LONG, false));
    expect(await dueIn()).toBeGreaterThan(19 * 3600);
    await apply(changed(SHORT, true));
    expect(await dueIn()).toBeGreaterThan(19 * 3600);
    await apply(changed(SHORT, false));
    expect(await dueIn()).toBeLessThanOrEqual(SHORT + 1);
  });
});

const WATCH_ID = newId();

function watchOf(intervalSeconds: number) {
  const criteria = create(CriteriaSchema, { market: 'global', query: 'acme' });
  return {
    watchId: WATCH_ID,
    source: 'hackernews',
    criteria,
    criteriaHash: 'ab'.repeat(32),
    intervalSeconds,
  };
}
