import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import {
  DigestAssembledSchema,
  EventSchema,
  KeywordDefinitionSchema,
  PurgeSchema,
  type Digest,
  type DigestMode,
  type Event,
} from '#contracts';
import {
  insertRows,
  openClickHouse,
  type ClickHouseClient,
  type EventRow,
  type MentionRow,
} from '#clickhouse';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, runDurable, subjectOf, type Bus, type RunningDurable } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { applyBatch, applyInOrder, consumerOf } from '#projections';
import { ReportAddresses } from '#secrets';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import type { AnalysisWork } from '../analyses/analysis-work.js';
import { nextDue } from '../domain/digest-times.js';
import type { DigestTurn } from '../domain/digest-turn.js';
import { DigestEventsHandler } from '../handlers/digest-events.handler.js';
import { PurgeHandler } from '../handlers/purge.handler.js';
import { digestItemsProjection } from '../projections/digest-items.projection.js';
import { reportsProjection } from '../projections/reports.projection.js';
import { SettledEvents } from '../settled.js';
import { mentionRow } from '../readmodels/mentions.sink.js';
import { DigestAssembly } from './digest-assembly.js';
import { agreeWithChannels, agreeWithZones, claimDueTurns } from './digest-turns.js';
import { DigestsLoop } from './digests.loop.js';
import { WeeklyFigures } from './weekly-figures.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ZONE = 'Europe/Berlin';
const log = createLogger('spec', 'silent');
/** A Wednesday, 10:20 in Berlin. */
const NOW = Date.parse('2026-03-04T09:20:00Z');
const REPORT_KEY = 'ab'.repeat(32);

let stores: IsolatedStores;
let database: Database;
let clickhouse: ClickHouseClient;
let bus: Bus;
let store: EventStore;
let items: RunningDurable;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  bus = await connectBus(stores.natsUrl, 'spec', log);
  store = new EventStore(bus);
  const handle = (batch: readonly JsMsg[]) => applyBatch(database, digestItemsProjection, batch);
  await database.query(`INSERT INTO installation (key_check, report_key) VALUES ('', $1)`, [REPORT_KEY]);
  items = await runDurable(bus, { ...consumerOf(digestItemsProjection), handle }, log);
});
afterAll(async () => {
  await items?.stop();
  await bus?.close();
  await clickhouse?.close();
  await database?.destroy();
  await stores?.drop();
});

const summarised = {
  run: async (_: unknown, mentions: readonly { id: string; own: string }[]) => ({
    summary: {
      text: '',
      sentences: mentions.map(({ id, own }) => ({ text: own, mentionIds: [id] })),
      reader: 'local',
    },
    errors: [],
  }),
} as unknown as AnalysisWork;

function assembly(): DigestAssembly {
  const figures = new WeeklyFigures(clickhouse, database, 'https://earshot.example/');
  return new DigestAssembly(database, store, summarised, figures, log);
}

const replica = () => new DigestsLoop(database, new SettledEvents(bus), assembly(), log);

/** A keyword of an account in Berlin, with one channel in some modes. */
class Scene {
  readonly accountId = newId();
  readonly keywordId = newId();
  readonly watchId = newId();
  readonly channelId = newId();

  static async with(...modes: DigestMode[]): Promise<Scene> {
    const scene = new Scene();
    const { accountId, keywordId } = scene;
    await database.query(
      `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, timezone, created_at)
       VALUES ($1, $2, 'free', '', $3, now())`,
      [accountId, accountId, ZONE],
    );
    await database.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, 'Acme', 'active', '{}', now(), now(), 1)`,
      [keywordId, accountId],
    );
    await scene.send(...modes);
    return scene;
  }

  /** Sends digests in these modes from now on. */
  async send(...modes: DigestMode[]): Promise<void> {
    const channels = modes.map((mode) => ({ channelId: this.channelId, mode }));
    const definition = toJson(
      KeywordDefinitionSchema,
      create(KeywordDefinitionSchema, { name: 'Acme', channels }),
    );
    await database.query('UPDATE keywords SET definition = $2 WHERE keyword_id = $1', [
      this.keywordId,
      JSON.stringify(definition),
    ]);
    await agreeWithChannels(database, [this.keywordId], await new SettledEvents(bus).lastSeq(), NOW);
  }

  event(text: string, more: Partial<Event> = {}): Event {
    const { accountId, keywordId, watchId } = this;
    const occurredAt = isoOf(NOW);
    const matched = {
      item: { itemId: newId(), kind: 'post', source: 'reddit', text, author: 'ada', title: '' },
    };
    const ids = { eventId: newId(), accountId, keywordId, watchId };
    const event = create(EventSchema, { ...ids, occurredAt, matched, source: 'reddit', push: true });
    return { ...event, ...more };
  }

  async publish(...events: Event[]): Promise<void> {
    const subject = subjectOf('EVENTS', this.accountId, this.watchId);
    await store.publishAll(
      events.map((event) => ({ subject, data: toBinary(EventSchema, event), msgId: newId() })),
    );
  }

  async digests(mode: DigestMode): Promise<Digest[]> {
    const subject = subjectOf('DIGESTS', this.accountId, this.keywordId, this.channelId, mode);
    return (await store.read('DIGESTS', subject)).map(
      ({ data }) =>
        JSON.parse(new TextDecoder().decode(fromBinary(DigestAssembledSchema, data).body)) as Digest,
    );
  }

  /** Waits until the digest of a time is done: until its turn is due later. */
  async run(at: number, ...replicas: DigestsLoop[]): Promise<void> {
    await until('the digests are assembled', async () => {
      await Promise.all((replicas.length > 0 ? replicas : [replica()]).map((one) => one.round(at)));
      const [row]: { due: number }[] = await database.query(
        'SELECT count(*)::int AS due FROM digest_turns WHERE keyword_id = $1 AND due_at <= $2',
        [this.keywordId, new Date(at)],
      );
      return row?.due === 0;
    });
  }
}

const texts = ({ priority, groups }: Digest) => [
  ...priority.map(({ excerpt }) => excerpt),
  ...groups.flatMap(({ stories }) => stories.flatMap((story) => story.items.map(({ excerpt }) => excerpt))),
];

it('each item is in exactly one digest of each mode, beside other replicas, and an empty digest is none [digests.exactly-once, digests.empty]', async () => {
  const scene = await Scene.with('hourly', 'daily');
  const first = scene.event('first');
  await scene.publish(first, scene.event('second'));
  const eleven = nextDue('hourly', ZONE, NOW);
  await scene.run(eleven, replica(), replica(), replica());
  await scene.run(eleven + HOUR_MS);
  await scene.publish(scene.event('third'), first);
  await scene.run(eleven + 2 * HOUR_MS, replica(), replica());
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

it('after a crash between the fact and the turn, the stored digest counts [digests.exactly-once]', async () => {
  const scene = await Scene.with('hourly');
  await scene.publish(scene.event('one'));
  const due = nextDue('hourly', ZONE, NOW);
  await until(
    'the item is stored',
    async () =>
      (await database.query('SELECT 1 FROM digest_items WHERE keyword_id = $1', [scene.keywordId])).length >
      0,
  );
  const [turn] = (await claimDueTurns(database, ['hourly'], 1000, due)).filter(
    ({ keywordId }) => keywordId === scene.keywordId,
  );
  const cut = await new SettledEvents(bus).lastSeq();
  const [before] = await assembly().assemble([{ turn: turn!, settledSeq: cut }], due);
  // The turn was not stored. Meanwhile there are more items, and the next digest is due.
  await scene.publish(scene.event('two'));
  const [again] = await assembly().assemble([{ turn: turn!, settledSeq: cut + 1 }], due + HOUR_MS);
  expect(again).toEqual(before);
  expect((await scene.digests('hourly')).map(texts)).toEqual([['one']]);
});

it('shows at most 50 items, VIPs and those to reply first although they are the oldest, and none that a person has hidden [digests.order]', async () => {
  const scene = await Scene.with('hourly');
  const events = Array.from({ length: 60 }, (_, n) => scene.event(`item ${n}`, { vip: n === 1 }));
  await scene.publish(...events);
  const label = (event: Event | undefined, labels: string[]) =>
    database.query(
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

it('a daily brief cites its mentions; a weekly report has figures, and emits its event [digests.brief, digests.report]', async () => {
  const scene = await Scene.with('daily_brief', 'weekly_report');
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
  await insertRows<MentionRow>(clickhouse, 'mentions', [
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
  await new DigestEventsHandler(store, database).handle(
    (await store.read('DIGESTS', subject)) as unknown as JsMsg[],
  );
  const [ready] = await store.read('EVENTS', subjectOf('EVENTS', scene.accountId, scene.keywordId));
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
  const facts = (await store.read('DIGESTS', subject)).map((fact) => ({ ...fact, predecessor: 0 }));
  await database.transaction((tx) => applyInOrder(tx, reportsProjection, facts));
  expect(
    await database.query('SELECT report_id, url, token, body FROM reports WHERE keyword_id = $1', [
      scene.keywordId,
    ]),
  ).toEqual([{ report_id: weekly?.id, url: weekly?.report?.url, token, body: weekly }]);
});

it('a weekly report names the alerts of its week, the earliest first [digests.report]', async () => {
  const { accountId, keywordId, channelId } = await Scene.with('weekly_report');
  // ClickHouse deletes events after 90 days, so this week is the present one.
  const to = Date.now();
  const alert = (at: number, rule: object): EventRow => ({
    ...{ watch_id: keywordId, account_id: accountId, event_id: newId(), push: true, stream_seq: 0 },
    ...{ type: 'keyword.alert_fired', occurred_at: isoOf(at) },
    envelope: JSON.stringify({ data: { rule, observed: 9, baseline: 1.5 } }),
  });
  await insertRows<EventRow>(clickhouse, 'events', [
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
  const figures = new WeeklyFigures(clickhouse, database, '');
  const { alerts } = await figures.of(turn, { from, to, cutSeq: 0 });
  expect(alerts).toEqual([
    { at: isoOf(to - 3 * DAY_MS), name: 'Loud', observed: 9, baseline: 1.5 },
    { at: isoOf(to - DAY_MS), name: 'spike low', observed: 9, baseline: 1.5 },
  ]);
});

it('a new channel gets only what is found from then on, a removed one nothing, and another zone moves the next digest [digests.times]', async () => {
  const scene = await Scene.with('daily');
  await scene.publish(scene.event('before'));
  await scene.send('daily', 'hourly');
  await scene.publish(scene.event('after'));
  await scene.run(nextDue('hourly', ZONE, NOW));
  expect((await scene.digests('hourly')).map(texts)).toEqual([['after']]);
  await database.query(`UPDATE accounts SET timezone = 'Asia/Tokyo' WHERE account_id = $1`, [
    scene.accountId,
  ]);
  await agreeWithZones(database, NOW);
  const due = () =>
    database.query('SELECT mode, due_at FROM digest_turns WHERE keyword_id = $1 ORDER BY mode', [
      scene.keywordId,
    ]);
  expect((await due())[0]).toEqual({ mode: 'daily', due_at: new Date('2026-03-05T00:00:00Z') });
  await scene.send('hourly');
  expect((await due()).map(({ mode }: { mode: string }) => mode)).toEqual(['hourly']);
});

it('what waits for the next digest of a retired keyword is not sent [digests.retired]', async () => {
  const scene = await Scene.with('hourly');
  await scene.publish(scene.event('one'));
  await database.query(`UPDATE keywords SET state = 'retired' WHERE keyword_id = $1`, [scene.keywordId]);
  await scene.send('hourly');
  await scene.run(nextDue('hourly', ZONE, NOW));
  expect(await scene.digests('hourly')).toEqual([]);
});

it('a purge deletes items, turns and digests of the keyword [digests.purge]', async () => {
  const scene = await Scene.with('hourly');
  await scene.publish(scene.event('one'));
  await scene.run(nextDue('hourly', ZONE, NOW));
  expect(await scene.digests('hourly')).toHaveLength(1);
  const { accountId, keywordId, watchId } = scene;
  await database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
  const data = toBinary(PurgeSchema, create(PurgeSchema, { accountId, keywordId, watchIds: [watchId] }));
  await new PurgeHandler(clickhouse, database, store).handle([{ data, time: new Date() } as JsMsg]);
  expect(await scene.digests('hourly')).toEqual([]);
  for (const table of ['digest_items', 'digest_turns', 'reports'])
    expect(await database.query(`SELECT 1 FROM ${table} WHERE keyword_id = $1`, [keywordId])).toEqual([]);
});
