import { fromBinary } from '@bufbuild/protobuf';
import { DIGEST_MODES, DigestAssembledSchema, type DigestAssembled, type DigestMode } from '#contracts';
import { EventStore } from '#event-store';
import { derivedId, isoOf, newId } from '#kernel';
import { connectBus, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import type { AnalysisWork } from '../analyses/analysis-work.js';
import { nextDue } from '../domain/digest-times.js';
import type { EventsProgress } from '../projection-progress.js';
import { DigestAssembly } from './digest-assembly.js';
import { DigestsLoop } from './digests.loop.js';
import type { WeeklyFigures } from './weekly-figures.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 2, 7);
const END = Date.UTC(2026, 3, 7);
const KEYWORDS = 1_000;
/** After this time, in ms, the claims of a dead replica have ended. */
const CLAIM_ENDS_MS = 121_000;

/** The time zones. `from` and `hours` are the beginning and the length of the day on which the clocks change. */
const ZONES: readonly { name: string; from?: string; hours?: number }[] = [
  { name: 'UTC' },
  { name: 'Asia/Kathmandu' },
  { name: 'America/New_York', from: '2026-03-08T05:00:00Z', hours: 23 },
  { name: 'Europe/Berlin', from: '2026-03-28T23:00:00Z', hours: 23 },
  { name: 'America/Santiago', from: '2026-04-04T03:00:00Z', hours: 25 },
  { name: 'Australia/Sydney', from: '2026-04-04T13:00:00Z', hours: 25 },
];
/** Number of keywords in each zone that have a mention in every hour of the day on which the clocks change. */
const HOURLY_KEYWORDS = 5;

let stores: IsolatedStores;
let database: Database;
let bus: Bus;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

interface Item {
  keyword: number;
  eventId: string;
  /** ms */
  at: number;
}

const random = generator(5);
const keywords = Array.from({ length: KEYWORDS }, (_, n) => ({
  keywordId: newId(),
  channelId: newId(),
  accountNumber: n % ZONES.length,
  zone: ZONES[n % ZONES.length]!,
}));

/**
 * Returns the mentions of the month, the earliest first: some at random, and one in every hour of the days of 23 or 25
 * hours.
 */
function itemsOfMonth(): Item[] {
  const items: Item[] = [];
  const add = (keyword: number, at: number) =>
    items.push({ keyword, at, eventId: derivedId('item', String(keyword), String(at)) });
  for (const [n, { zone }] of keywords.entries()) {
    for (let day = START; day < END; day += 6 * DAY_MS)
      for (const hour of [8, 12]) if (random() < 0.1) add(n, day + (hour + 1 / 3) * HOUR_MS);
    if (zone.from !== undefined && n < HOURLY_KEYWORDS * ZONES.length)
      for (let hour = 0; hour < zone.hours!; hour += 1)
        add(n, Date.parse(zone.from) + (hour + 0.5) * HOUR_MS);
  }
  return items.sort((a, b) => a.at - b.at);
}

/** Fails after about one of fifty appends: then the digest is stored, but its row in `digest_turns` is not updated. */
class FailingStore extends EventStore {
  failures = 0;
  override async append(...args: Parameters<EventStore['append']>): Promise<number> {
    const seq = await super.append(...args);
    if (random() >= 0.02) return seq;
    this.failures += 1;
    throw new Error('the process dies');
  }
}

it('each mention of a month is in exactly one digest of each mode, despite failures and changes of the clock [digests.exactly-once, digests.dst, digests.times, digests.empty]', async () => {
  await insertKeywords();
  const items = itemsOfMonth();
  const store = new FailingStore(bus);
  let appliedSeq = 0;
  const upTo = async () => () => appliedSeq;
  const lastSeq = async () => appliedSeq;
  const progress = { upTo, lastSeq, mentions: { upTo } } as unknown as EventsProgress;
  const replicas = [1, 2].map(
    () => new DigestsLoop(database, progress, assembly(store), createLogger('spec', 'silent')),
  );
  const expected = expectedDigests(items);
  const times = [...items.map(({ at }) => at), ...[...expected.values()].map(({ due }) => due)];
  let stored = 0;
  // Between these times no mention arrives, and no digest with mentions is due.
  for (const now of [...new Set(times)].sort((a, b) => a - b)) {
    const found = items.slice(stored, items.findIndex(({ at }, n) => n >= stored && at >= now) >>> 0);
    await insertItems(found, stored);
    stored += found.length;
    appliedSeq = stored;
    const failures = store.failures;
    await runAll(replicas, now);
    if (store.failures > failures) await runAll(replicas, now + CLAIM_ENDS_MS);
  }
  const digests = await storedDigests();
  expect(digests.map(textOf).sort()).toEqual([...expected.keys()].sort());
  expect(new Set(digests.map(({ digestId }) => digestId)).size).toBe(digests.length);
  expect(store.failures).toBeGreaterThan(10);
  for (const zone of ZONES.filter(({ hours }) => hours !== undefined)) {
    const from = Date.parse(zone.from!);
    const until = from + zone.hours! * HOUR_MS;
    const { keywordId } = keywords.find((one) => one.zone === zone)!;
    const ofDay = digests.filter(
      (one) =>
        one.keywordId === keywordId && Date.parse(one.periodTo) > from && Date.parse(one.periodTo) <= until,
    );
    const count = (mode: DigestMode) => ofDay.filter((one) => one.mode === mode).length;
    expect([zone.name, count('hourly')]).toEqual([zone.name, zone.hours]);
    expect([zone.name, count('daily')]).toEqual([zone.name, 1]);
  }
}, 240_000);

function assembly(store: EventStore): DigestAssembly {
  const work = { run: async () => ({ summary: null, errors: [] }) } as unknown as AnalysisWork;
  const figures = { of: async () => null } as unknown as WeeklyFigures;
  return new DigestAssembly(database, store, work, figures, createLogger('spec', 'silent'));
}

/**
 * Returns the expected digests of the month, by `textOf`: for each keyword and mode, one for each due time that has
 * mentions.
 */
function expectedDigests(items: readonly Item[]): Map<string, { due: number }> {
  const groups = new Map<string, { keyword: number; mode: DigestMode; due: number; mentionIds: string[] }>();
  for (const { keyword, eventId, at } of items)
    for (const mode of DIGEST_MODES) {
      const due = nextDue(mode, keywords[keyword]!.zone.name, at);
      const key = `${keyword} ${mode} ${due}`;
      const group = groups.get(key) ?? { keyword, mode, due, mentionIds: [] };
      groups.set(key, group);
      group.mentionIds.push(eventId);
    }
  return new Map(
    [...groups.values()].map(({ keyword, mode, due, mentionIds }) => [
      textOf({ keywordId: keywords[keyword]!.keywordId, mode, periodTo: isoOf(due), mentionIds }),
      { due },
    ]),
  );
}

function textOf({
  keywordId,
  mode,
  periodTo,
  mentionIds,
}: Pick<DigestAssembled, 'keywordId' | 'mode' | 'periodTo' | 'mentionIds'>): string {
  return [keywordId, mode, periodTo, ...mentionIds].join(' ');
}

async function insertKeywords(): Promise<void> {
  const accountIds = ZONES.map(() => newId());
  for (const [n, { name }] of ZONES.entries())
    await database.query(
      `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, timezone, created_at) VALUES ($1, $1::uuid::text, 'free', '', $2, now())`,
      [accountIds[n], name],
    );
  const rows = keywords.map(({ keywordId, channelId, accountNumber }) => ({
    keyword_id: keywordId,
    channel_id: channelId,
    account_id: accountIds[accountNumber],
    definition: { channels: DIGEST_MODES.map((mode) => ({ channelId, mode })) },
  }));
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     SELECT keyword_id, account_id, 'Acme', 'active', definition, now(), now(), 1
     FROM jsonb_to_recordset($1) AS r (keyword_id uuid, account_id uuid, definition jsonb)`,
    [JSON.stringify(rows)],
  );
  const turns = rows.flatMap((row, n) =>
    DIGEST_MODES.map((mode) => {
      const timezone = keywords[n]!.zone.name;
      return { ...row, mode, timezone, due_at: new Date(nextDue(mode, timezone, START)) };
    }),
  );
  await database.query(
    `INSERT INTO digest_turns (keyword_id, channel_id, mode, account_id, timezone, period_from, after_seq, due_at)
     SELECT keyword_id, channel_id, mode, account_id, timezone, $2, 0, due_at FROM jsonb_to_recordset($1)
       AS r (keyword_id uuid, channel_id uuid, mode text, account_id uuid, timezone text, due_at timestamptz)`,
    [JSON.stringify(turns), new Date(START)],
  );
}

async function insertItems(items: readonly Item[], afterSeq: number): Promise<void> {
  const rows = items.map(({ keyword, eventId, at }, n) => ({
    keyword_id: keywords[keyword]!.keywordId,
    seq: afterSeq + n + 1,
    event_id: eventId,
    occurred_at: isoOf(at),
    item: { bucket: null, storyId: null, own: '', item: { mentionId: eventId, vip: false, labels: [] } },
  }));
  await database.query(
    `INSERT INTO digest_items (keyword_id, seq, event_id, occurred_at, item)
     SELECT * FROM jsonb_to_recordset($1) AS r (keyword_id uuid, seq bigint, event_id uuid, occurred_at timestamptz, item jsonb)`,
    [JSON.stringify(rows)],
  );
}

async function runAll(replicas: readonly DigestsLoop[], now: number): Promise<void> {
  for (let isMore = true; isMore;)
    isMore = (await Promise.all(replicas.map((one) => one.round(now)))).includes(true);
}

async function storedDigests(): Promise<DigestAssembled[]> {
  const { messages } = (await bus.jsm.streams.info('DIGESTS')).state;
  const digests: DigestAssembled[] = [];
  const consumer = await bus.js.consumers.get('DIGESTS');
  for await (const { data } of await consumer.consume()) {
    digests.push(fromBinary(DigestAssembledSchema, data));
    if (digests.length === messages) break;
  }
  return digests;
}

/** Returns pseudo-random numbers between 0 and 1 (Mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
