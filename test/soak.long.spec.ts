import { balanceOf } from '#credits';
import type { SourceId } from '#contracts';
import { openDatabase, type Database } from '#postgres';
import {
  ALL_SERVICES,
  startProgram,
  startServices,
  until,
  type Json,
  type Program,
  type ServiceName,
} from '#testing';
import type { FaultKind } from '../apps/simulator/index.js';
import { searchOf } from '../apps/simulator/searches.js';
import { expectAuditAgrees } from './audit.js';
import { connectBilling, type BillingUnderTest } from './interface/billing-under-test.js';
import { setStage, openCustomer, type Customer, type Stage } from './scenario.js';
import { VirtualClock } from './virtual-clock.js';

// Simulates one hour of work that costs credits, in one minute of real time: programs, database and upstreams use a
// clock that runs sixty times as fast.

const MINUTES = 60;
const MINUTE_MS = 60_000;
const SOURCES: SourceId[] = [
  'hackernews',
  'bluesky',
  'reddit',
  'mastodon',
  'lemmy',
  'stackoverflow',
  'x',
  'youtube',
];
const FAULTS: FaultKind[] = ['429', '500', 'html', '503', 'truncated', '403', 'empty'];

const clock = new VirtualClock(60);
let stage: Stage;
let programs: Map<string, Program>;
let billing: BillingUnderTest;
let database: Database;
let rich: Customer;
let poor: Customer;
let began: number;

beforeAll(async () => {
  const env = { ...clock.env, LANE_LEASE_MS: '90000', POLL_TICK_MS: '3000' };
  stage = await setStage(env, { clock, ratePerSecond: 0.05 });
  await clock.applyTo(stage.stores);
  const started = await startServices(stage.env, [...ALL_SERVICES]);
  programs = new Map(started.map((program) => [program.name, program]));
  const gateway = programs.get('gateway')?.url ?? '';
  [rich, poor] = [await openCustomer(stage, gateway), await openCustomer(stage, gateway, 'free')];
  billing = await connectBilling(stage.stores.natsUrl);
  database = await openDatabase(stage.stores.databaseUrl, 'spec', 2);
  began = clock.now().getTime();
}, 90_000);
afterAll(async () => {
  await billing?.stop();
  await database?.destroy();
  await Promise.all([...(programs?.values() ?? [])].map((program) => program.stop('SIGKILL')));
  await stage?.close();
});

const inMinutes = (minutes: number) => new Date(clock.now().getTime() + minutes * MINUTE_MS).toISOString();

/** Creates a keyword on these sources, each with this number of searches. */
async function keywordOn(
  { api }: Customer,
  name: string,
  sources: readonly SourceId[],
  more: { intervalSeconds: number; searches?: number },
): Promise<Json> {
  const { intervalSeconds, searches = 1 } = more;
  const made = await api.post('/v1/keywords', {
    name,
    refreshIntervalSeconds: intervalSeconds,
    globalCriteria: { market: 'global', query: name },
    webhookUrl: `${stage.simulator.url}/hooks/${name}`,
    sources: sources.map((source) => {
      const { market = 'global', filters } = searchOf(source, stage.simulator.url);
      const overrides = (n: number) =>
        source === 'ai_answers'
          ? { market, filters: { prompt: `Which ${name}, ${n}?` } }
          : { market, query: n === 0 ? name : `${name}${n}`, ...(filters && { filters }) };
      const list = Array.from({ length: searches }, (_, n) => ({ overrides: overrides(n) }));
      return { source, enabled: true, searches: list };
    }),
  });
  if (made.status !== 201) throw new Error(made.text);
  return made.body;
}

async function killAndStart(name: ServiceName): Promise<void> {
  await programs.get(name)?.stop('SIGKILL');
  programs.set(name, await startProgram(name, stage.env));
}

/**
 * Spends all credits except this number and the reserved credits, so that the account soon cannot pay, even on a slow
 * machine.
 */
async function spendAllBut({ accountId }: Customer, credits: number): Promise<void> {
  const balance = await balanceOf(database, accountId);
  await billing.spend(accountId, (balance?.remaining ?? 0) - (balance?.reserved ?? 0) - credits);
}

/** Does the work of one minute of the hour. */
async function runMinute(minute: number, richKeywords: Json[]): Promise<void> {
  const { simulator } = stage;
  const { api } = rich;
  const [first, second, third] = richKeywords.map(({ id }) => id as string);
  for (const source of SOURCES) {
    const { community } = searchOf(source, simulator.url);
    const more = community === undefined ? {} : { community };
    simulator.world.publish(source, { text: `Soakword in minute ${minute}`, title: 'Soakword', ...more });
  }
  if (minute % 4 === 0)
    simulator.faults.add({
      source: SOURCES[(minute / 4) % SOURCES.length] ?? 'x',
      kind: FAULTS[(minute / 4) % FAULTS.length] ?? '500',
      times: 2,
      retryAfterSeconds: 30,
    });
  if (minute % 6 === 2) {
    const answers = [await api.get('/v1/x/tweets?ids=1,2'), await api.get('/v1/reddit/users/ada/moderated')];
    for (const { status } of answers) expect([200, 503]).toContain(status);
  }
  if (minute === 5) await billing.grant(rich.accountId, 1000, inMinutes(25));
  if (minute === 10) expect((await api.post(`/v1/keywords/${second}/pause`, {})).status).toBe(200);
  if (minute === 15) {
    const globalCriteria = { market: 'global', query: 'Soakword again' };
    expect((await api.patch(`/v1/keywords/${third}`, { globalCriteria })).status).toBe(200);
  }
  if (minute === 20) expect((await api.post(`/v1/keywords/${second}/resume`, {})).status).toBe(200);
  if (minute === 25)
    expect((await api.patch(`/v1/keywords/${first}`, { refreshIntervalSeconds: 120 })).status).toBe(200);
  if (minute === 33) await killAndStart('billing');
  if (minute === 42) await killAndStart('polling');
  if (minute === 12) await spendAllBut(poor, 100);
  if (minute === 45) await billing.grant(poor.accountId, 300);
  if (minute === 50) await billing.changePlan(rich.accountId, 'pro');
}

describe('an hour of checks, faults, pauses, grants, lookups and crashes', () => {
  it('leaves no reserved credits, and in each account credits that agree with the streams [credits.never-negative, credits.charged-once, keywords.pause-credits]', async () => {
    const richKeywords = [
      await keywordOn(rich, 'Soakword', SOURCES, { intervalSeconds: 60 }),
      await keywordOn(rich, 'Restword', ['hackernews', 'reddit'], { intervalSeconds: 60, searches: 2 }),
      await keywordOn(rich, 'Newword', ['hackernews', 'bluesky'], { intervalSeconds: 300 }),
    ];
    const poorKeywords = [
      await keywordOn(poor, 'Thirst', ['ai_answers'], { intervalSeconds: 30, searches: 2 }),
      await keywordOn(poor, 'Drought', ['x', 'tiktok'], { intervalSeconds: 30, searches: 2 }),
    ];
    const states = new Set<string>();
    for (let minute = 1; minute <= MINUTES; minute += 1) {
      await until(`minute ${minute}`, () => clock.now().getTime() >= began + minute * MINUTE_MS, 60_000);
      await runMinute(minute, richKeywords);
      const { body } = await poor.api.get(`/v1/keywords/${poorKeywords[0].id}`);
      states.add(`${minute < 45 ? 'before' : 'after'} the grant: ${body.pausedReason ?? body.state}`);
    }
    for (const { api, list } of [
      { api: rich.api, list: richKeywords },
      { api: poor.api, list: poorKeywords },
    ])
      for (const { id } of list) expect((await api.delete(`/v1/keywords/${id}`)).status).toBe(204);

    const report = await expectAuditAgrees(stage.stores, rich.accountId, clock);
    const checksOn = (source: SourceId) =>
      report.days
        .filter((day) => day.source === source)
        .reduce((sum, day) => ({ ok: sum.ok + day.checks, failed: sum.failed + day.failedChecks }), {
          ok: 0,
          failed: 0,
        });
    // Checks run every minute for 25 minutes, then every second minute. Faults, the crash of polling and a slow machine
    // delay some checks.
    expect(SOURCES.filter((source) => checksOn(source).ok <= 10)).toEqual([]);
    expect(SOURCES.reduce((sum, source) => sum + checksOn(source).failed, 0)).toBeGreaterThan(5);
    await expectAuditAgrees(stage.stores, poor.accountId, clock);
    for (const state of ['before the grant: active', 'before the grant: insufficient_credits'])
      expect(states).toContain(state);
    expect(states).toContain('after the grant: active');
    const kinds = new Set((await rich.api.all('/v1/credits/ledger?limit=200')).map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['allowance_change', 'charge', 'grant', 'pack_expiry', 'renewal']);
    for (const { accountId } of [rich, poor])
      await until('nothing is reserved', async () => (await balanceOf(database, accountId))?.reserved === 0);
  }, 240_000);
});
