import * as fc from 'fast-check';
import { type Covered } from '../domain/coverage.js';
import type { AlertCondition, AlertRule, SpikeLevel } from './alert-rules.js';
import { backtestAlerts } from './backtest-alerts.js';
import { CountedSeries, type BinCount } from './counted-series.js';
import { levelOf } from './level.js';
import { baselinesOf, BIN_MS } from './windows.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 0, 5);
const SPIKE: AlertCondition = { kind: 'spike', level: 'medium' };
const VOLUME: AlertCondition = { kind: 'volume', window: '1h', min: 5, multiple: 3 };

const ruleOf = (condition: AlertCondition, source: string | null = null): AlertRule => ({
  key: condition.kind === 'spike' ? 'spike' : 'rule',
  name: 'Rule',
  source,
  condition,
  actions: { webhook: false, notifyChannelIds: [], notifyKeywordChannels: false },
});

/** Returns the counts of a search: `perHour(hour)` mentions in each hour after the start, spread over the hour. */
function hourly(hours: number, perHour: (hour: number) => number, watchId = 'a'): BinCount[] {
  const counts: BinCount[] = [];
  for (let bin = 0; bin < hours * 12; bin += 1) {
    const wanted = perHour(Math.floor(bin / 12));
    const total = Math.floor((((bin % 12) + 1) * wanted) / 12) - Math.floor(((bin % 12) * wanted) / 12);
    if (total > 0) counts.push({ watchId, at: START + bin * BIN_MS, total, negative: 0 });
  }
  return counts;
}

interface Scene {
  condition?: AlertCondition;
  /** Only mentions of this source are counted: `reddit` has the search a, `x` has the others. */
  source?: string;
  counts: BinCount[];
  /** The covered hours of each search, counted from the start. */
  covered?: Record<string, [number, number][]>;
  timeZone?: string;
  createdHour?: number;
  sinceHour?: number;
}

async function alertsOf(scene: Scene) {
  const {
    condition = SPIKE,
    source,
    counts,
    covered,
    timeZone = 'UTC',
    createdHour = 0,
    sinceHour = 0,
  } = scene;
  const coverage = Object.entries<[number, number][]>(covered ?? { a: [[0, 10_000]] }).map(
    ([id, periods]) =>
      [
        id,
        periods.map(([from, to]): Covered => ({ from: START + from * HOUR_MS, to: START + to * HOUR_MS })),
      ] as const,
  );
  const history = {
    series: new CountedSeries([...counts].sort((a, b) => a.at - b.at)),
    searches: coverage.map(([watchId]) => ({ watchId, source: watchId === 'a' ? 'reddit' : 'x' })),
    createdAt: START + createdHour * HOUR_MS,
    coverage: new Map(coverage),
    timeZone,
  };
  const found = await backtestAlerts([ruleOf(condition, source)], history, START + sinceHour * HOUR_MS);
  return found.map(({ to, observed, baseline }) => ({ hour: (to - START) / HOUR_MS, observed, baseline }));
}

describe('the threshold of a spike alert', () => {
  const hours = (count: number, of: number) => Array.from({ length: count }, () => [of]);

  it('is at least five mentions for every sensitivity [alerts.spike-levels]', () => {
    for (const level of ['low', 'medium', 'high'] as const)
      expect(levelOf({ kind: 'spike', level }, hours(168, 0), 24, 1)).toMatchObject({
        baseline: 0,
        threshold: 5,
      });
  });

  it('is higher for a lower sensitivity [alerts.spike-levels]', () => {
    const threshold = (level: SpikeLevel) =>
      levelOf({ kind: 'spike', level }, hours(168, 100), 24, 1)?.threshold;
    expect([threshold('high'), threshold('medium'), threshold('low')]).toEqual([116, 122, 133]);
  });

  it('exists only if 24 hours of history are known [alerts.spike-history]', () => {
    expect(levelOf(SPIKE, hours(23, 4), 24, 1)).toBeUndefined();
    expect(levelOf(SPIKE, hours(24, 4), 24, 1)).toBeDefined();
  });

  it('does not treat an unknown hour of a search as an hour without mentions [alerts.blind]', () => {
    const known = Array.from({ length: 100 }, () => [10, 10]);
    const halfBlind = known.map((counts, n) => (n % 2 === 0 ? counts : [10, undefined]));
    expect(levelOf(SPIKE, halfBlind, 24, 2)).toEqual(levelOf(SPIKE, known, 24, 2));
  });

  it('leaves out the mentions of a search without history', () => {
    const windows = Array.from({ length: 100 }, () => [10, undefined]);
    expect(levelOf(SPIKE, windows, 24, 2)).toMatchObject({ baseline: 10, searches: [0] });
  });
});

describe('the baseline of a spike alert', () => {
  const began = { first: START, last: START };
  const at = (hour: number) => ({ from: START + (hour - 1) * HOUR_MS, to: START + hour * HOUR_MS });

  it('uses the last 7 days at first, and prefers the same hour of earlier weeks after 14 days of history [alerts.spike-baseline]', () => {
    expect(baselinesOf(SPIKE, at(14 * 24 - 1), began, 'UTC').map(({ windows }) => windows.length)).toEqual([
      168,
    ]);
    const [weekly, hours] = baselinesOf(SPIKE, at(15 * 24), began, 'UTC');
    expect(weekly?.windows).toEqual([at(8 * 24), at(24)]);
    expect(hours?.windows).toHaveLength(168);
  });

  it('follows the wall clock of the account over a change of daylight saving time [alerts.spike-baseline]', () => {
    // Berlin changes its clock on 29 March 2026: 09:00 in Berlin is 08:00 UTC before that day, and 07:00 UTC after it.
    const to = Date.parse('2026-03-30T07:00:00Z');
    const [weekly] = baselinesOf(SPIKE, { from: to - HOUR_MS, to }, began, 'Europe/Berlin');
    expect(weekly?.windows.slice(0, 2).map((one) => new Date(one.to).toISOString())).toEqual([
      '2026-03-23T08:00:00.000Z',
      '2026-03-16T08:00:00.000Z',
    ]);
  });
});

describe('a spike alert', () => {
  it('fires once for an episode, and again for the next episode [alerts.episode, alerts.quiet]', async () => {
    const burst = (hour: number) => (hour === 40 || hour === 41 || hour === 60 ? 40 : 4);
    const alerts = await alertsOf({ counts: hourly(72, burst) });
    expect(alerts.map(({ hour }) => Math.floor(hour))).toEqual([40, 60]);
    expect(alerts[0]?.baseline).toBeCloseTo(4, 0);
  });

  it('waits for 24 hours of history [alerts.spike-history]', async () => {
    expect(await alertsOf({ counts: hourly(24, (hour) => (hour === 20 ? 50 : 2)) })).toEqual([]);
  });

  it('expects more mentions by day than at night if the days had more mentions for two weeks [alerts.spike-baseline]', async () => {
    const busyDays = (hour: number) => (hour % 24 >= 8 && hour % 24 < 20 ? 30 : 1);
    expect(await alertsOf({ counts: hourly(24 * 28, busyDays), sinceHour: 24 * 14 })).toEqual([]);
    const atNight = (hour: number) => busyDays(hour) + (hour === 24 * 20 + 2 ? 15 : 0);
    const [night] = await alertsOf({ counts: hourly(24 * 28, atNight), sinceHour: 24 * 14 });
    expect(Math.floor(night?.hour ?? 0)).toBe(24 * 20 + 2);
  });

  it('does not fire when a source answers again after an outage [alerts.blind]', async () => {
    // Source b did not answer for six of the seven days, so nothing is known about these days.
    const counts = [...hourly(200, () => 3), ...hourly(20, () => 30, 'b')];
    const back = hourly(200, (hour) => (hour >= 170 ? 30 : 0), 'b');
    const withGap = {
      a: [[0, 10_000]],
      b: [
        [0, 20],
        [170, 10_000],
      ],
    } as Record<string, [number, number][]>;
    expect(await alertsOf({ counts: [...counts, ...back], covered: withGap, sinceHour: 170 })).toEqual([]);
    const withoutGap = { a: [[0, 10_000]], b: [[0, 10_000]] } as Record<string, [number, number][]>;
    expect(await alertsOf({ counts: [...counts, ...back], covered: withoutGap, sinceHour: 170 })).not.toEqual(
      [],
    );
  });

  it('fires at most ten times in two weeks of random counts if its sensitivity is low, but never misses a large burst [alerts.noise]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.constantFrom(1, 10, 60),
        async (seed, rate) => {
          const random = generator(seed);
          const noise = poissonCounts(24 * 28, () => rate, random);
          const condition = { kind: 'spike', level: 'low' } as const;
          const quiet = await alertsOf({ condition, counts: noise, sinceHour: 24 * 14 });
          // With a threshold of three standard deviations, at most this number of alerts is expected in two weeks.
          expect(quiet.length).toBeLessThanOrEqual(10);
          const at = 24 * 20 + Math.floor(random() * 24);
          const inBurst = (count: BinCount) => Math.floor((count.at - START) / HOUR_MS) === at;
          // The burst is not random, because a random count can be too small for a burst. The burst is large, because
          // the threshold here depends on only two counts: the same hour of two earlier weeks. If these hours have 0 and 4
          // mentions, the threshold is more than 26 mentions.
          const burst = [
            ...noise.filter((count) => !inBurst(count)),
            ...hourly(at + 1, (hour) => (hour === at ? 10 * rate + 100 : 0)),
          ];
          const alerts = await alertsOf({ condition, counts: burst, sinceHour: at });
          expect(alerts.some(({ hour }) => hour > at && hour <= at + 1)).toBe(true);
        },
      ),
      { numRuns: 6, examples: [[667_556_102, 1]] },
    );
  });
});

describe('a volume or sentiment_shift rule', () => {
  it('fires at `min` mentions if there is no history, and later at `multiple` times the mean of its earlier windows [alerts.volume]', async () => {
    const condition = VOLUME;
    const [first] = await alertsOf({ condition, counts: hourly(1, () => 5) });
    expect(first).toMatchObject({ observed: 5, baseline: 0 });
    expect(
      await alertsOf({ condition, counts: hourly(30, (hour) => (hour === 20 ? 11 : 4)), sinceHour: 2 }),
    ).toEqual([]);
    const [alert] = await alertsOf({
      condition,
      counts: hourly(30, (hour) => (hour === 20 ? 13 : 4)),
      sinceHour: 2,
    });
    expect(alert).toMatchObject({ observed: 12, baseline: 4 });
  });

  it('does not fire while nothing is known about its history [alerts.blind]', async () => {
    const covered = {
      a: [
        [0, 0.5],
        [50, 60],
      ],
    } as Record<string, [number, number][]>;
    const counts = hourly(51, (hour) => (hour === 50 ? 30 : 0));
    expect(await alertsOf({ condition: VOLUME, counts, covered, sinceHour: 50 })).toEqual([]);
  });

  it('does not fire at the usual number of mentions after the first search of its source was added to an old keyword [alerts.volume]', async () => {
    const covered: Record<string, [number, number][]> = { a: [[100, 200]], b: [[0, 200]] };
    const usual = hourly(110, (hour) => (hour >= 100 ? 6 : 0));
    const alertsSince = (counts: BinCount[]) =>
      alertsOf({ condition: VOLUME, source: 'reddit', counts, covered, sinceHour: 100 });
    expect(await alertsSince(usual)).toEqual([]);
    const [burst] = await alertsSince(hourly(110, (hour) => (hour >= 100 ? (hour === 108 ? 40 : 6) : 0)));
    expect(burst?.hour).toBeGreaterThan(108);
  });

  it('fires at `min` mentions of its source in a new keyword, even if the first scan of another source gave history [alerts.volume]', async () => {
    const covered: Record<string, [number, number][]> = { a: [[100, 200]], b: [[0, 200]] };
    const counts = hourly(101, (hour) => (hour === 100 ? 6 : 0));
    const scene = { condition: VOLUME, source: 'reddit', counts, covered, createdHour: 100 };
    expect(await alertsOf(scene)).toMatchObject([{ observed: 5, baseline: 0 }]);
  });

  it('does not fire at the usual number of mentions of a new keyword if the first scan of its search gave history [alerts.volume]', async () => {
    const counts = hourly(110, () => 6);
    expect(await alertsOf({ condition: VOLUME, counts, createdHour: 100, sinceHour: 100 })).toEqual([]);
  });

  it('fires at `min` mentions if the first check of the keyword came long after its creation [alerts.volume]', async () => {
    const counts = hourly(101, (hour) => (hour === 100 ? 6 : 0));
    const covered: Record<string, [number, number][]> = { a: [[100, 200]] };
    expect(await alertsOf({ condition: VOLUME, counts, covered })).toMatchObject([
      { observed: 5, baseline: 0 },
    ]);
  });

  it('counts only negative mentions if its kind is sentiment_shift, and only mentions of one source if it names a source [alerts.shift]', async () => {
    const condition: AlertCondition = { kind: 'sentiment_shift', window: '1h', min: 3, multiple: 2 };
    const counts = hourly(10, () => 12).map((one) => ({
      ...one,
      negative: one.at >= START + 9 * HOUR_MS ? 1 : 0,
    }));
    expect((await alertsOf({ condition, counts })).map(({ observed }) => observed)).toEqual([3]);
    const history = {
      series: new CountedSeries(hourly(10, () => 12)),
      searches: [{ watchId: 'a', source: 'reddit' }],
      createdAt: START,
      coverage: new Map([['a', [{ from: START, to: START + DAY_MS }]]]),
      timeZone: 'UTC',
    };
    const volume: AlertCondition = { kind: 'volume', window: '1h', min: 3, multiple: 1 };
    expect(await backtestAlerts([ruleOf(volume, 'x')], history, START)).toEqual([]);
    expect(await backtestAlerts([ruleOf(volume, 'reddit')], history, START)).toHaveLength(1);
  });
});

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

function poissonCounts(hours: number, rateOf: (hour: number) => number, random: () => number): BinCount[] {
  const counts: BinCount[] = [];
  for (let bin = 0; bin < hours * 12; bin += 1) {
    const limit = Math.exp(-rateOf(Math.floor(bin / 12)) / 12);
    let total = 0;
    for (let product = random(); product > limit; product *= random()) total += 1;
    if (total > 0) counts.push({ watchId: 'a', at: START + bin * BIN_MS, total, negative: 0 });
  }
  return counts;
}
