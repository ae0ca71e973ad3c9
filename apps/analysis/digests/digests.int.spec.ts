import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema, PurgeSchema, type Digest, type Event } from '#contracts';
import { insertRows, type EventRow, type MentionRow } from '#clickhouse';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { applyInOrder } from '#projections';
import { ReportAddresses } from '#secrets';
import { until } from '#testing';
import { nextDue } from '../domain/digest-times.js';
import type { DigestTurn } from '../domain/digest-turn.js';
import { DigestEventsHandler } from '../handlers/digest-events.handler.js';
import { PurgeHandler } from '../handlers/purge.handler.js';
import { reportsProjection } from '../projections/reports.projection.js';
import { EventsProgress } from '../projection-progress.js';
import { mentionRow } from '../readmodels/mentions.sink.js';
import { updateTimeZones, claimDueTurns } from './digest-turns.js';
import { WeeklyFigures } from './weekly-figures.js';
import { DigestsUnderTest, NOW, REPORT_KEY, ZONE } from '../testing/digests-under-test.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let fixture: DigestsUnderTest;

beforeAll(async () => {
  fixture = await DigestsUnderTest.open();
});
afterAll(() => fixture?.close());

const texts = ({ priority, groups }: Digest) => [
  ...priority.map(({ excerpt }) => excerpt),
  ...groups.flatMap(({ stories }) => stories.flatMap((story) => story.items.map(({ excerpt }) => excerpt))),
];

it('each item is in exactly one digest of each mode while several replicas run, and no digest is empty [digests.exactly-once, digests.empty]', async () => {
  const scene = await fixture.scene('hourly', 'daily');
  const first = scene.event('first');
  await scene.publish(first, scene.event('second'));
  const eleven = nextDue('hourly', ZONE, NOW);
  await scene.run(eleven, fixture.replica(), fixture.replica(), fixture.replica());
  await scene.run(eleven + HOUR_MS);
  await scene.publish(scene.event('third'), first);
  await scene.run(eleven + 2 * HOUR_MS, fixture.replica(), fixture.replica());
  const hourly = await scene.digests('hourly');
  expect(hourly.map(texts)).toEqual([['second', 'first'], ['third']]);
  expect(hourly.map(({ period }) => period)).toEqual([
    { from: isoOf(NOW), to: isoOf(eleven) },
    { from: isoOf(eleven + HOUR_MS), to: isoOf(eleven + 2 * HOUR_MS) },
  ]);
  await scene.run(nextDue('daily', ZONE, NOW));
  const [daily, ...others] = await scene.digests('daily');
  expect([daily && texts(daily), others]).toEqual([['third', 'second', 'first'], []]);
  expect(daily).toMatchObject({
    keyword: { id: scene.keywordId, name: 'Acme' },
    timezone: ZONE,
    total: 3,
    more: 0,
  });
});

it('a stored digest is used if the process crashed before it updated the row in `digest_turns` [digests.exactly-once]', async () => {
  const scene = await fixture.scene('hourly');
  await scene.publish(scene.event('one'));
  const due = nextDue('hourly', ZONE, NOW);
  await until(
    'the item is stored',
    async () =>
      (await fixture.database.query('SELECT 1 FROM digest_items WHERE keyword_id = $1', [scene.keywordId]))
        .length > 0,
  );
  const [turn] = (await claimDueTurns(fixture.database, ['hourly'], 1000, due)).filter(
    ({ keywordId }) => keywordId === scene.keywordId,
  );
  const cut = await new EventsProgress(fixture.bus).lastSeq();
  const [before] = await fixture.assembly().assemble([{ turn: turn!, appliedSeq: cut }], due);
  // The digest is stored, but its row in `digest_turns` is not updated. Then more items arrive, and the next digest is
  // due.
  await scene.publish(scene.event('two'));
  const [again] = await fixture.assembly().assemble([{ turn: turn!, appliedSeq: cut + 1 }], due + HOUR_MS);
  expect(again).toEqual(before);
  expect((await scene.digests('hourly')).map(texts)).toEqual([['one']]);
});

it('a digest shows at most 50 items and no hidden items; items of VIPs and items with the label `to_reply` come first [digests.order]', async () => {
  const scene = await fixture.scene('hourly');
  const events = Array.from({ length: 60 }, (_, n) => scene.event(`item ${n}`, { vip: n === 1 }));
  await scene.publish(...events);
  const label = (event: Event | undefined, labels: string[]) =>
    fixture.database.query(
      `INSERT INTO mention_labels (mention_id, account_id, owner_id, labels, corrections, version)
       VALUES ($1, $2, $3, $4, '{}', 1)`,
      [event?.eventId, scene.accountId, scene.keywordId, labels],
    );
  await label(events[0], ['to_reply']);
  await label(events[59], ['hidden']);
  await scene.run(nextDue('hourly', ZONE, NOW));
  const [digest] = await scene.digests('hourly');
  const shown = digest ? texts(digest) : [];
  expect(digest?.priority.map(({ excerpt }) => excerpt)).toEqual(['item 1', 'item 0']);
  expect(shown).toEqual(['item 1', 'item 0', ...Array.from({ length: 48 }, (_, n) => `item ${58 - n}`)]);
  expect([digest?.total, digest?.more]).toEqual([59, 9]);
});

it('a daily brief cites its mentions; a weekly report contains figures and causes the event keyword.report_ready [digests.brief, digests.report]', async () => {
  const scene = await fixture.scene('daily_brief', 'weekly_report');
  const event = scene.event('The app crashes');
  await scene.publish(event);
  await scene.run(nextDue('daily_brief', ZONE, NOW));
  const [brief] = await scene.digests('daily_brief');
  expect(brief?.summary).toEqual({
    sentences: [{ text: 'The app crashes', mentionIds: [event.eventId] }],
    reader: 'local',
  });
  const monday = nextDue('weekly_report', ZONE, NOW);
  const row = (at: number, more: Partial<MentionRow> = {}) =>
    mentionRow(scene.event('x', { occurredAt: isoOf(at) })).map((one) => ({
      ...one,
      check_id: newId(),
      ...more,
    }));
  await insertRows<MentionRow>(fixture.clickhouse, 'mentions', [
    ...row(monday - DAY_MS / 2, { sentiment: 'negative', story_id: 's', title: 'Crash', vip: true }),
    ...row(monday - DAY_MS / 2, { source: 'x', author: null }),
    ...row(monday - 2 * DAY_MS, {
      author: 'bob',
      story_id: 't',
      title: 'Sale',
      url: 'https://example.org/sale',
    }),
    ...row(monday - 2 * DAY_MS - 1, { author: 'bob', story_id: 't', title: 'Sale again' }),
    ...row(monday - 8 * DAY_MS),
    ...row(monday - DAY_MS, { dropped_reason: 'muted' }),
    ...row(monday - DAY_MS, { labels: ['hidden'] }),
    ...row(monday - DAY_MS, { backfilled: true }),
  ]);
  await scene.run(monday);
  const [weekly] = await scene.digests('weekly_report');
  const { days, ...volume } = weekly!.report!.volume;
  expect(volume).toEqual({ count: 4, previous: 1 });
  expect(days.map(({ date }) => date)).toEqual([
    '2026-03-02',
    '2026-03-03',
    '2026-03-04',
    '2026-03-05',
    '2026-03-06',
    '2026-03-07',
    '2026-03-08',
  ]);
  expect([days[6], days[5]]).toEqual([
    { date: '2026-03-08', count: 2, previous: 1 },
    { date: '2026-03-07', count: 1, previous: 0 },
  ]);
  expect(weekly?.report).toMatchObject({
    sentiment: { positive: 0, neutral: 0, negative: 1, mixed: 0, unread: 3 },
    sources: [
      { source: 'reddit', count: 3 },
      { source: 'x', count: 1 },
    ],
    authors: [
      { author: 'bob', source: 'reddit', count: 2, vip: false },
      { author: 'ada', source: 'reddit', count: 1, vip: true },
    ],
    stories: [
      { storyId: 't', title: 'Sale again', count: 2 },
      { storyId: 's', title: 'Crash', count: 1 },
    ],
    alerts: [],
  });
  const subject = subjectOf('DIGESTS', scene.accountId, scene.keywordId, scene.channelId, 'weekly_report');
  await new DigestEventsHandler(fixture.store, fixture.database).handle(
    (await fixture.store.read('DIGESTS', subject)) as unknown as JsMsg[],
  );
  const [ready] = await fixture.store.read('EVENTS', subjectOf('EVENTS', scene.accountId, scene.keywordId));
  expect(JSON.parse(new TextDecoder().decode(fromBinary(EventSchema, ready!.data).envelope))).toMatchObject({
    type: 'keyword.report_ready',
    keywordId: scene.keywordId,
    data: {
      reportId: weekly?.id,
      period: { from: isoOf(NOW), to: isoOf(monday) },
      url: weekly?.report?.url,
    },
  });
  const [, token = ''] =
    /^https:\/\/earshot\.example\/reports\/([\w-]+)$/.exec(weekly?.report?.url ?? '') ?? [];
  expect(new ReportAddresses(REPORT_KEY, '').reportIdIn(token, monday)).toBe(weekly?.id);
  const facts = (await fixture.store.read('DIGESTS', subject)).map((fact) => ({ ...fact, predecessor: 0 }));
  await fixture.database.transaction((tx) => applyInOrder(tx, reportsProjection, facts));
  expect(
    await fixture.database.query('SELECT report_id, url, token, body FROM reports WHERE keyword_id = $1', [
      scene.keywordId,
    ]),
  ).toEqual([{ report_id: weekly?.id, url: weekly?.report?.url, token, body: weekly }]);
});

it('a weekly report waits until the mentions of its week are in ClickHouse, and a daily brief does not wait [digests.report]', async () => {
  const scene = await fixture.scene('daily_brief', 'weekly_report');
  let write = () => {};
  fixture.mentionsWritten = new Promise((resolve) => (write = resolve));
  await scene.publish(scene.event('one'));
  const monday = nextDue('weekly_report', ZONE, NOW);
  const replica = fixture.replica();
  await until('the brief is assembled', async () => {
    await replica.round(monday);
    return (await scene.digests('daily_brief')).length > 0;
  });
  await replica.round(monday);
  expect(await scene.digests('weekly_report')).toEqual([]);
  write();
  await scene.run(monday, replica);
  expect(await scene.digests('weekly_report')).toHaveLength(1);
});

it('a weekly report names the alerts of its week, the earliest first [digests.report]', async () => {
  const { accountId, keywordId, channelId } = await fixture.scene('weekly_report');
  // ClickHouse deletes events after 90 days, so the test uses the last seven days.
  const to = Date.now();
  const alert = (at: number, rule: object): EventRow => ({
    ...{ watch_id: keywordId, account_id: accountId, event_id: newId(), push: true, stream_seq: 0 },
    ...{ type: 'keyword.alert_fired', occurred_at: isoOf(at) },
    envelope: JSON.stringify({ data: { rule, observed: 9, baseline: 1.5 } }),
  });
  await insertRows<EventRow>(fixture.clickhouse, 'events', [
    alert(to - DAY_MS, { spike: 'low' }),
    alert(to - 3 * DAY_MS, { name: 'Loud' }),
    alert(to - 8 * DAY_MS, { name: 'A week before' }),
    { ...alert(to - DAY_MS, { name: 'Of another keyword' }), watch_id: newId() },
  ]);
  const from = to - 7 * DAY_MS;
  const turn: DigestTurn = {
    ...{ accountId, keywordId, channelId, mode: 'weekly_report', timeZone: ZONE },
    ...{ periodFrom: from, dueAt: to, afterSeq: 0, digestSeq: 0 },
  };
  const figures = new WeeklyFigures(fixture.clickhouse, fixture.database, '');
  const { alerts } = await figures.of(turn, { from, to, cutSeq: 0 });
  expect(alerts).toEqual([
    { at: isoOf(to - 3 * DAY_MS), name: 'Loud', observed: 9, baseline: 1.5 },
    { at: isoOf(to - DAY_MS), name: 'spike low', observed: 9, baseline: 1.5 },
  ]);
});

it('an added mode gets only later items, a removed mode gets no digest, and a changed time zone moves the next digest [digests.times]', async () => {
  const scene = await fixture.scene('daily');
  await scene.publish(scene.event('before'));
  await scene.send('daily', 'hourly');
  await scene.publish(scene.event('after'));
  await scene.run(nextDue('hourly', ZONE, NOW));
  expect((await scene.digests('hourly')).map(texts)).toEqual([['after']]);
  await fixture.database.query(`UPDATE accounts SET timezone = 'Asia/Tokyo' WHERE account_id = $1`, [
    scene.accountId,
  ]);
  await updateTimeZones(fixture.database, NOW);
  const due = () =>
    fixture.database.query('SELECT mode, due_at FROM digest_turns WHERE keyword_id = $1 ORDER BY mode', [
      scene.keywordId,
    ]);
  expect((await due())[0]).toEqual({ mode: 'daily', due_at: new Date('2026-03-05T00:00:00Z') });
  await scene.send('hourly');
  expect((await due()).map(({ mode }: { mode: string }) => mode)).toEqual(['hourly']);
});

it('the next digest of a new mode contains the mentions that were waiting when the mode of the channel changed [digests.exactly-once]', async () => {
  const scene = await fixture.scene('daily');
  await scene.publish(scene.event('before the first change'));
  await scene.send('hourly');
  const eleven = nextDue('hourly', ZONE, NOW);
  await scene.run(eleven);
  await scene.publish(scene.event('before the second change'));
  await scene.send('daily', 'weekly_report');
  await scene.send('hourly');
  await scene.publish(scene.event('after the changes'));
  await scene.run(eleven + HOUR_MS);
  const hourly = await scene.digests('hourly');
  expect(hourly.map(texts)).toEqual([
    ['before the first change'],
    ['after the changes', 'before the second change'],
  ]);
  expect(hourly.map(({ period }) => period)).toEqual([
    { from: isoOf(NOW), to: isoOf(eleven) },
    { from: isoOf(eleven), to: isoOf(eleven + HOUR_MS) },
  ]);
  expect(await scene.digests('daily')).toEqual([]);
});

it('items that wait for the next digest of a retired keyword are not sent [digests.retired]', async () => {
  const scene = await fixture.scene('hourly');
  await scene.publish(scene.event('one'));
  await fixture.database.query(`UPDATE keywords SET state = 'retired' WHERE keyword_id = $1`, [
    scene.keywordId,
  ]);
  await scene.send('hourly');
  await scene.run(nextDue('hourly', ZONE, NOW));
  expect(await scene.digests('hourly')).toEqual([]);
});

it('a purge deletes items, turns and digests of the keyword [digests.purge]', async () => {
  const scene = await fixture.scene('hourly');
  await scene.publish(scene.event('one'));
  await scene.run(nextDue('hourly', ZONE, NOW));
  expect(await scene.digests('hourly')).toHaveLength(1);
  const { accountId, keywordId, watchId } = scene;
  await fixture.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
  const data = toBinary(PurgeSchema, create(PurgeSchema, { accountId, keywordId, watchIds: [watchId] }));
  await new PurgeHandler(fixture.clickhouse, fixture.database, fixture.store).handle([
    { data, time: new Date() } as JsMsg,
  ]);
  expect(await scene.digests('hourly')).toEqual([]);
  for (const table of ['digest_items', 'digest_turns', 'reports'])
    expect(await fixture.database.query(`SELECT 1 FROM ${table} WHERE keyword_id = $1`, [keywordId])).toEqual(
      [],
    );
});
