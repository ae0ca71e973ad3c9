import { create, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema, KeywordDefinitionSchema, PurgeSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { rebuildProjection, type RebuildableProjection } from '#projections';
import { AlertEventsHandler } from '../handlers/alert-events.handler.js';
import { PurgeHandler } from '../handlers/purge.handler.js';
import { alertsProjection } from '../projections/alerts.projection.js';
import { mentionCountsProjection } from '../projections/mention-counts.projection.js';
import { searchCoverageProjection } from '../projections/search-coverage.projection.js';
import { CountDifference, TestedAlerts } from '../backtests/tested-alerts.js';
import { claimTurns, finishTurns } from './alert-turns.js';
import { MentionHistory } from './mention-history.js';
import { binOf } from './windows.js';
import { AlertsUnderTest, HOUR_MS, MINUTE_MS, NOW, rule, RULE } from '../testing/alerts-under-test.js';

let fixture: AlertsUnderTest;

beforeAll(async () => {
  fixture = await AlertsUnderTest.open();
});
afterAll(() => fixture?.close());

it('a rebuild of counts and covered times gives the same rows, and does not mark the keyword for an evaluation [alerts.once]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  const events = scene.mentions(5, 4, 3, 2, 1);
  await scene.publish([...events, ...events]);
  await scene.evaluate();
  const rows = () =>
    fixture.database.query(
      `SELECT (SELECT sum(total)::int FROM mention_counts WHERE keyword_id = $1) AS total,
         (SELECT count(*)::int FROM search_coverage WHERE keyword_id = $1) AS covered,
         (SELECT changed_from FROM alert_turns WHERE keyword_id = $1) AS changed_from`,
      [scene.keywordId],
    );
  const before = await rows();
  expect(before).toEqual([{ total: 5, covered: 1, changed_from: null }]);
  for (const projection of [mentionCountsProjection, searchCoverageProjection])
    await rebuildProjection(fixture.database, fixture.bus, projection as RebuildableProjection);
  expect(await rows()).toEqual(before);
});

it('a rebuild keeps an open episode even if ALERTS no longer contains its alert, so the rule does not fire again [alerts.episode]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate();
  expect(await scene.kinds()).toEqual(['fired']);
  await fixture.store.erase('ALERTS', subjectOf('ALERTS', scene.accountId, scene.keywordId));
  await rebuildProjection(fixture.database, fixture.bus, alertsProjection as RebuildableProjection);
  await scene.publish(scene.mentions(-5));
  await scene.evaluate(10);
  expect(await scene.kinds()).toEqual([]);
});

it('an alert and a backtest count the mentions of a watch whose search has no id', async () => {
  const definition = { rules: [rule()], spikeAlert: 'low' };
  const scene = await fixture.scene(definition, '');
  const { accountId, keywordId } = scene;
  await scene.publish(scene.mentions(50, 40, 30, 20, 10));
  await scene.evaluate();
  expect(await scene.kinds()).toEqual(['fired']);
  const window = { accountId, keywordId, since: new Date(NOW - 2 * HOUR_MS), until: new Date(NOW) };
  const tested = new TestedAlerts(fixture.database);
  const keyword = create(KeywordDefinitionSchema, definition);
  const found = await tested.of(window, keyword, new CountDifference());
  expect(found).toMatchObject([{ kind: 'volume', observed: 5, ruleId: definition.rules[0]!.id }]);
  const stricter = create(KeywordDefinitionSchema, { rules: [rule({ min: 6 })] });
  expect(await tested.of(window, stricter, new CountDifference())).toEqual([]);
});

it('the time of an alert in a backtest is never later than the end of the backtest', async () => {
  const definition = create(KeywordDefinitionSchema, { rules: [rule()] });
  const scene = await fixture.scene({ rules: [rule()] });
  const { accountId, keywordId } = scene;
  await scene.publish(scene.mentions(40, 30, 20, 10, 0));
  const window = { accountId, keywordId, since: new Date(NOW - 2 * HOUR_MS), until: new Date(NOW) };
  const found = await new TestedAlerts(fixture.database).of(window, definition, new CountDifference());
  expect(found).toMatchObject([{ at: new Date(NOW).toISOString(), observed: 5 }]);
});

it('an alert fires once for an episode, and its event contains its rule, its window, the counts and its mentions [alerts.event, alerts.episode, alerts.actions]', async () => {
  const channel = newId();
  const then = [{ type: 'webhook' }, { type: 'notify', channelIds: [channel] }];
  const scene = await fixture.scene({ rules: [rule({}, then)] });
  const few = scene.mentions(400, 50, 40, 30, 20);
  await scene.publish(few);
  await scene.evaluate();
  expect(await scene.facts()).toEqual([]);
  const last = scene.mentions(1);
  await scene.publish(last);
  await scene.evaluate();
  await scene.publish(scene.mentions(0, 0, 0));
  await scene.evaluate(1);
  const [event, ...others] = await scene.events();
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    ruleWebhook: true,
    notifyChannelIds: [channel],
    notifyKeywordChannels: false,
  });
  const newestFirst = [...last, ...few.slice(1).reverse()].map(({ eventId }) => eventId);
  expect(JSON.parse(new TextDecoder().decode(event?.envelope))).toMatchObject({
    id: event?.eventId,
    type: 'keyword.alert_fired',
    watchId: null,
    keywordId: scene.keywordId,
    occurredAt: isoOf(NOW),
    data: {
      rule: { id: RULE, name: 'Many', kind: 'volume' },
      window: { from: isoOf(binOf(NOW) - 55 * MINUTE_MS), to: isoOf(NOW) },
      observed: 5,
      baseline: 0.11,
      multiple: 45,
      sampleMentionIds: newestFirst,
      suppressedUntil: isoOf(NOW + HOUR_MS),
    },
  });
});

it('an episode ends one hour after its last window that reached the threshold, and later mentions fire a new alert [alerts.episode, alerts.quiet]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate();
  await scene.evaluate(30);
  expect(await scene.kinds()).toEqual(['fired']);
  await scene.evaluate(70);
  await scene.evaluate(80);
  expect(await scene.kinds()).toEqual(['fired', 'ended']);
  await scene.publish(
    scene.mentions(-100, -100, -100, -100, -100).map((one) => ({ ...one, occurredAt: one.countedAt! })),
  );
  await scene.evaluate(101);
  expect(await scene.kinds()).toEqual(['fired', 'ended', 'fired']);
});

it('three replicas that evaluate the same mentions at the same time fire one alert [alerts.once]', async () => {
  const scene = await fixture.scene({ rules: [rule()], spikeAlert: 'high' });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate(0, [fixture.replica(), fixture.replica(), fixture.replica()]);
  expect(await scene.kinds()).toEqual(['fired']);
  expect(await scene.events()).toHaveLength(1);
});

it('an event that is stored twice is counted only once, and late items do not fire the alert again [alerts.once]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  const four = scene.mentions(5, 4, 3, 2);
  await scene.publish([...four, ...four]);
  await scene.publish(four);
  await scene.evaluate();
  expect(await scene.facts()).toEqual([]);
  await scene.publish(scene.mentions(1));
  await scene.evaluate();
  // The window that ended ninety minutes earlier also has enough mentions.
  await scene.publish(scene.mentions(90, 91, 92, 93, 94));
  await scene.evaluate(2);
  expect(await scene.kinds()).toEqual(['fired']);
});

it('a mention that is found hours late fires its alert after at most ten reads of the counts', async () => {
  const scene = await fixture.scene({});
  // Stores twelve mentions an hour.
  await scene.publish(scene.mentions(...Array.from({ length: 119 }, (_, n) => 5 * n + 3)));
  await scene.define({ rules: [rule({ min: 10, multiple: 2 })] });
  await scene.publish(scene.mentions(300, ...Array.from({ length: 20 }, () => 2)));
  const query = jest.spyOn(fixture.database, 'query');
  await scene.evaluate();
  const reads = query.mock.calls.filter(([sql]) => sql.includes('mention_counts'));
  query.mockRestore();
  expect(reads.length).toBeLessThanOrEqual(10);
  const [fact, ...others] = await scene.facts();
  expect([fact, others]).toMatchObject([{ case: 'fired', value: { observed: 32 } }, []]);
  expect(fact?.case === 'fired' && Math.round(fact.value.baseline)).toBe(12);
});

it('alerts do not count dropped items, hidden items or items of unknown time, and do not fire for backfilled items alone [alerts.own-time]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  const [dropped, hidden, undated, ...kept] = scene.mentions(1, 1, 1, 1, 1, 1, 1);
  await scene.publish([
    { ...dropped!, dropped: create(EventSchema, { dropped: { reason: 'muted' } }).dropped! },
    { ...hidden!, labels: ['hidden'] },
    { ...undated!, countedAt: '' },
    ...kept,
  ]);
  await scene.evaluate();
  expect(await scene.facts()).toEqual([]);
  const past = await fixture.scene({ rules: [rule()] });
  await past.publish(past.mentions(5, 4, 3, 2, 1, 1).map((one) => ({ ...one, backfilled: true })));
  await past.evaluate();
  expect(await past.facts()).toEqual([]);
});

it('a rule that changes during its episode does not fire again, and the episode of a deleted rule ends [alerts.episode]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate();
  await scene.define({ rules: [rule({ min: 1, multiple: 1 })] });
  await scene.publish(scene.mentions(0));
  await scene.evaluate(1);
  expect(await scene.kinds()).toEqual(['fired']);
  await scene.define({ spikeAlert: 'low' });
  await scene.publish(scene.mentions(0));
  await scene.evaluate(2);
  expect(await scene.kinds()).toEqual(['fired', 'ended']);
});

it('an alert is published once, even if its message is delivered again [alerts.once]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate();
  const subject = subjectOf('ALERTS', scene.accountId, scene.keywordId);
  const again = (await fixture.store.read('ALERTS', subject)).map((one) => ({ ...one, redelivered: true }));
  // For two minutes NATS drops a message whose id is repeated, so the test counts the messages that the handler
  // publishes, not the stored messages.
  const publish = jest.spyOn(fixture.store, 'publishAll');
  const publishedNow = async () => {
    publish.mockClear();
    await new AlertEventsHandler(fixture.store, fixture.database).handle(again as unknown as JsMsg[]);
    return publish.mock.calls.flatMap(([messages]) => messages).length;
  };
  expect([await publishedNow(), await publishedNow()]).toEqual([1, 0]);
});

it('a mention that arrives during an evaluation is part of the next evaluation [alerts.once]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2));
  const turns = (await claimTurns(fixture.database, 100)).filter(
    ({ keywordId }) => keywordId === scene.keywordId,
  );
  const evaluated = await fixture.replica().evaluateTurns(turns, NOW);
  await scene.publish(scene.mentions(1));
  await finishTurns(fixture.database, evaluated);
  await scene.evaluate();
  expect(await scene.kinds()).toEqual(['fired']);
});

it('a purge deletes counts, covered times and episodes, and later messages do not restore them [alerts.purge]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  await scene.evaluate();
  const { accountId, keywordId, watchId } = scene;
  await fixture.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
  const purge = create(PurgeSchema, { accountId, keywordId, watchIds: [watchId] });
  const message = { data: toBinary(PurgeSchema, purge), time: new Date() } as JsMsg;
  const stored = await fixture.store.read('ALERTS', subjectOf('ALERTS', accountId, keywordId));
  await new PurgeHandler(fixture.clickhouse, fixture.database, fixture.store).handle([message]);
  await scene.publish(scene.mentions(1));
  await scene.check({ windowFrom: isoOf(NOW), windowTo: isoOf(NOW + 1) });
  await new AlertEventsHandler(fixture.store, fixture.database).handle(stored as unknown as JsMsg[]);
  expect(await scene.events()).toEqual([]);
  for (const table of [
    'mention_counts',
    'counted_mentions',
    'search_coverage',
    'alert_turns',
    'alert_episodes',
  ])
    expect([
      table,
      await fixture.database.query(`SELECT 1 FROM ${table} WHERE keyword_id = $1`, [keywordId]),
    ]).toEqual([table, []]);
});

it('an evaluation that is still running after a purge stores no alert [alerts.purge]', async () => {
  const scene = await fixture.scene({ rules: [rule()] });
  await scene.publish(scene.mentions(5, 4, 3, 2, 1));
  const { accountId, keywordId, watchId } = scene;
  const examples = jest.spyOn(MentionHistory.prototype, 'examplesOf').mockImplementation(async () => {
    await fixture.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
    const purge = create(PurgeSchema, { accountId, keywordId, watchIds: [watchId] });
    const message = { data: toBinary(PurgeSchema, purge), time: new Date() } as JsMsg;
    await new PurgeHandler(fixture.clickhouse, fixture.database, fixture.store).handle([message]);
    return [];
  });
  await scene.evaluate();
  examples.mockRestore();
  expect(await scene.facts()).toEqual([]);
  expect(
    await fixture.database.query('SELECT 1 FROM alert_episodes WHERE keyword_id = $1', [keywordId]),
  ).toEqual([]);
});
