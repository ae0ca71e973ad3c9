import { create } from '@bufbuild/protobuf';
import { KeywordDefinitionSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { CountDifference, TestedAlerts } from '../backtests/tested-alerts.js';
import type { TestedItem } from '../backtests/tested-item.js';
import {
  AlertsUnderTest,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  rule,
  type AlertScene,
} from '../testing/alerts-under-test.js';

let fixture: AlertsUnderTest;

beforeAll(async () => {
  fixture = await AlertsUnderTest.open();
});
afterAll(() => fixture?.close());

it.each([
  ['all searches of its keyword were', ''],
  ['a search with an id was', newId()],
])(
  'a rule does not fire at the usual number of mentions after %s replaced [alerts.volume]',
  async (_, searchId) => {
    const scene = await fixture.scene({ rules: [rule()] }, searchId);
    await scene.publish(scene.mentions(...Array.from({ length: 10 }, (_, n) => 60 * n + 3)));
    await scene.replaceSearch();
    await scene.check({ baseline: true, windowTo: isoOf(NOW) });
    await scene.publish(
      scene
        .mentions(...Array.from({ length: 6 }, (_, n) => -6 * n - 3))
        .map((one) => ({ ...one, occurredAt: one.countedAt! })),
    );
    await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 35 * MINUTE_MS) });
    await scene.evaluate(35);
    expect(await scene.facts()).toEqual([]);
  },
);

it('a burst that continues during an outage of its source fires no second alert after the outage [alerts.episode, alerts.blind]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate();
  // Nothing was read for 70 minutes, so the episode seems to end. In fact six mentions an hour were published.
  await scene.evaluate(70);
  const continued = scene.mentions(...Array.from({ length: 8 }, (_, n) => -8 * n - 8));
  await scene.publish(continued.map((one) => ({ ...one, occurredAt: isoOf(NOW + 71 * MINUTE_MS) })));
  await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 71 * MINUTE_MS) });
  await scene.evaluate(71);
  expect(await scene.kinds()).toEqual(['fired', 'ended']);
  await scene.publish(scene.mentions(-76).map((one) => ({ ...one, occurredAt: one.countedAt! })));
  await scene.evaluate(76);
  expect(await scene.kinds()).toEqual(['fired', 'ended']);
});

it('the alert of a new episode waits until 60 minutes after the last alert, and then needs no new mention [alerts.episode, alerts.quiet]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  // One check finds both bursts.
  await scene.publish(scene.mentions(305, 304, 303, 302, 301, 5, 4, 3, 2, 1));
  await scene.evaluate();
  await scene.evaluate(30);
  expect(await scene.dueAt()).toBe(NOW + HOUR_MS);
  const fired = async () => (await scene.kinds()).filter((kind) => kind === 'fired').length;
  expect(await fired()).toBe(1);
  await scene.evaluate(60);
  expect(await fired()).toBe(2);
});

it('an alert about a burst does not wait for alerts about earlier bursts that were found late', async () => {
  const scene = await fixture.scene({ rules: [rule({ multiple: 1 })] });
  await scene.publish(scene.mentions(...[400, 300, 200, 100].flatMap((at) => Array(8).fill(at) as number[])));
  await scene.evaluate();
  const live = scene.mentions(...Array.from({ length: 40 }, () => -9));
  await scene.publish(live.map((one) => ({ ...one, occurredAt: one.countedAt! })));
  await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 10 * MINUTE_MS) });
  await scene.evaluate(10);
  await scene.evaluate(60);
  const fired = (await scene.facts()).flatMap((fact) => (fact.case === 'fired' ? [fact.value.observed] : []));
  expect(fired).toEqual([8, 40]);
});

it.each([
  ['into a list of searches', '', newId()],
  ['out of a list of searches', newId(), ''],
])(
  'a spike alert keeps its history when a user moves its search %s [alerts.spike-baseline]',
  async (_, before, after) => {
    const scene = await fixture.scene({ spikeAlert: 'low' }, before);
    await scene.check({ windowFrom: isoOf(NOW - 8 * 24 * HOUR_MS), windowTo: isoOf(NOW) });
    await scene.publish(scene.mentions(...Array.from({ length: 300 }, (_, n) => 30 * n + 3)));
    await scene.moveSearch(after);
    const burst = scene.mentions(...Array.from({ length: 20 }, () => -3));
    await scene.publish(burst.map((one) => ({ ...one, occurredAt: one.countedAt! })));
    await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 5 * MINUTE_MS) });
    await scene.evaluate(5);
    expect(await scene.facts()).toMatchObject([{ case: 'fired', value: { observed: 22 } }]);
  },
);

describe('history that an earlier release stored under the id of the search', () => {
  const EIGHT_DAYS_MS = 8 * 24 * HOUR_MS;

  /** Returns a scene with eight days of such history: one mention in each half hour. */
  async function earlierScene(
    alerts: Parameters<AlertsUnderTest['scene']>[0],
    searchId = newId(),
  ): Promise<AlertScene> {
    const scene = await fixture.scene(alerts, searchId);
    await scene.check({ windowFrom: isoOf(NOW - EIGHT_DAYS_MS), windowTo: isoOf(NOW) });
    await scene.publish(scene.mentions(...Array.from({ length: 384 }, (_, n) => 30 * n + 3)));
    const ids = [scene.keywordId, searchId];
    for (const table of ['mention_counts', 'search_coverage', 'counted_mentions'])
      await fixture.database.query(`UPDATE ${table} SET search_id = $2 WHERE keyword_id = $1`, ids);
    await fixture.database.query(
      'UPDATE watches SET created_at = $3 WHERE keyword_id = $1 AND search_id = $2',
      [...ids, new Date(NOW - EIGHT_DAYS_MS)],
    );
    return scene;
  }

  /** Publishes mentions that were published and found at these minutes after `NOW`. */
  const publishAt = (scene: AlertScene, ...minutes: number[]) =>
    scene.publish(
      scene.mentions(...minutes.map((one) => -one)).map((one) => ({ ...one, occurredAt: one.countedAt! })),
    );

  it('is used for a search that has not changed since', async () => {
    const scene = await earlierScene({ spikeAlert: 'low' });
    await publishAt(scene, ...(Array(20).fill(3) as number[]));
    await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 5 * MINUTE_MS) });
    await scene.evaluate(5);
    expect(await scene.facts()).toMatchObject([{ case: 'fired', value: { observed: 22 } }]);
  });

  it('is not used after a change of the criteria of the search', async () => {
    const scene = await earlierScene({ rules: [rule()] });
    await scene.replaceSearch();
    await scene.check({ baseline: true, windowTo: isoOf(NOW) });
    await publishAt(scene, 3, 9, 15, 21, 27, 33);
    await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 35 * MINUTE_MS) });
    await scene.evaluate(35);
    expect(await scene.facts()).toEqual([]);
  });

  it('is not counted twice for searches of two sources with the same id', async () => {
    const searchId = newId();
    const scene = await earlierScene({ rules: [rule({ multiple: 4 })] }, searchId);
    await scene.addSearch(searchId, 'x');
    await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 125 * MINUTE_MS) });
    await publishAt(scene, 20, 50, ...Array.from({ length: 12 }, (_, n) => 65 + 5 * n));
    await scene.evaluate(125);
    expect(await scene.facts()).toMatchObject([{ case: 'fired', value: { observed: 11, baseline: 2 } }]);
  });
});

it('a rule does not count the mentions of a search that a user removed a moment ago [alerts.volume]', async () => {
  const scene = await fixture.scene({ rules: [rule()] }, '');
  const hours = Array.from({ length: 10 }, (_, n) => 60 * n + 1);
  await scene.publish(scene.mentions(...hours, ...hours, ...hours, ...hours));
  const kept = scene.watchId;
  await scene.addSearch();
  await scene.check({ windowFrom: isoOf(NOW - 10 * HOUR_MS), windowTo: isoOf(NOW) });
  await scene.publish(scene.mentions(1, 1, 1));
  const replica = fixture.replica();
  await scene.evaluate(0, [replica]);
  await scene.removeSearch(scene.watchId);
  scene.watchId = kept;
  await scene.publish(scene.mentions(1));
  await scene.evaluate(0, [replica]);
  expect(await scene.facts()).toEqual([]);
});

it('a backtest leaves out mentions that the tested rules drop, including mentions from before a user moved the search into a list', async () => {
  const scene = await fixture.scene({ rules: [rule()] }, '');
  const mentions = scene.mentions(50, 40, 30, 20, 10);
  await scene.publish(mentions);
  await scene.moveSearch(newId());
  const { accountId, keywordId, watchId } = scene;
  const window = { accountId, keywordId, since: new Date(NOW - 2 * HOUR_MS), until: new Date(NOW) };
  const definition = create(KeywordDefinitionSchema, { rules: [rule()] });
  const difference = new CountDifference();
  const found = () => new TestedAlerts(fixture.database).of(window, definition, difference);
  expect(await found()).toMatchObject([{ observed: 5 }]);
  const at = mentions[0]!.countedAt!.replace('T', ' ').replace('Z', '');
  const stored = { occurred_at: at, published_at: at, watch_id: watchId };
  const row = { ...stored, dropped_reason: '', rules: [], labels: [], version: 0, never_counted: false };
  difference.add({ row, dropped: { reason: 'mute' }, labels: [] } as unknown as TestedItem);
  expect(await found()).toEqual([]);
});
