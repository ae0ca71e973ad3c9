/**
 * Measures alerts on synthetic mentions, and compares them with a plain threshold and a 3-sigma rule: false alarms on
 * noise, and the median delay until a burst is reported. The bench adds the bursts to the noise.
 * `npm run -s build && node dist/bench/alerts.js`
 */
import type { AlertRule, SpikeLevel } from '../apps/analysis/alerts/alert-rules.js';
import { backtestAlerts } from '../apps/analysis/alerts/backtest-alerts.js';
import { CountedSeries, type BinCount } from '../apps/analysis/alerts/counted-series.js';
import { BIN_MS } from '../apps/analysis/alerts/windows.js';
import { evaluationCost } from './alerts/evaluation.js';
import { burstsIn, countsOf, daily, flat, SEARCH, type Arrivals, type Burst } from './alerts/series.js';
import { helpWanted, median, numberOption, runBench, printProgress, table, target } from './harness.js';
import { seeded } from './matching-data.js';

helpWanted(`
Usage: node dist/bench/alerts.js [--weeks 20] [--keywords 500]

Prints the false alarms a week on Poisson noise at 1, 10 and 100 mentions an hour, and on noise with quiet nights. Also prints
the median delay until an added burst (three times the usual rate, for three hours) is reported, and the share of bursts that
are reported. The variants are the spike alert in its three sensitivities, a plain threshold (twice the mean rate), and mean +
3 standard deviations of the last 7 days. After each five minutes with a mention, each variant counts the mentions of the
last hour. An alarm needs at least 5 mentions, and no alarm follows for an hour. Then measures the cost of evaluating
keywords from Postgres, with fresh mentions and with a mention that is found a day late. Data are seeded; only the cost
differs from run to run. Takes about one minute.
`);

const WEEKS = numberOption('weeks', 20);
const KEYWORDS = numberOption('keywords', 500);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 0, 5);
/** Alarms are counted only after these weeks, which give the baseline of each hour of the week six samples. */
const HISTORY_WEEKS = 6;
const SINCE = START + HISTORY_WEEKS * 7 * DAY_MS;
const END = SINCE + WEEKS * 7 * DAY_MS;
const BURST = { times: 3, ms: 3 * HOUR_MS };
const MIN_THRESHOLD = 5;

/** @returns the times at which the variant raises an alarm, in ms */
type Variant = (counts: readonly BinCount[], perHour: number) => Promise<number[]>;

const spike =
  (level: SpikeLevel): Variant =>
  async (counts) => {
    const rule: AlertRule = {
      key: 'spike',
      name: '',
      source: null,
      condition: { kind: 'spike', level },
      actions: { webhook: false, notifyChannelIds: [], notifyKeywordChannels: true },
    };
    const history = {
      series: new CountedSeries(counts),
      createdAt: 0,
      searches: [{ watchId: SEARCH, source: 'hackernews' }],
      coverage: new Map([[SEARCH, [{ from: START, to: END }]]]),
      timeZone: 'UTC',
    };
    return (await backtestAlerts([rule], history, SINCE)).map(({ to }) => to);
  };

const VARIANTS: Readonly<Record<string, Variant>> = {
  'spike alert, low (3)': spike('low'),
  'spike alert, medium (2)': spike('medium'),
  'spike alert, high (1.5)': spike('high'),
  'plain threshold, twice the mean': async (counts, perHour) =>
    alarms(counts, () => Math.max(MIN_THRESHOLD, 2 * perHour)),
  'mean + 3 sigma of 7 days': async (counts) =>
    alarms(counts, (series, to) => {
      const hours = Array.from({ length: 7 * 24 }, (_, n) => hourBefore(series, to - (n + 1) * HOUR_MS));
      const mean = hours.reduce((sum, one) => sum + one, 0) / hours.length;
      const squares = hours.reduce((sum, one) => sum + (one - mean) ** 2, 0);
      return Math.max(MIN_THRESHOLD, mean + 3 * Math.sqrt(squares / (hours.length - 1)));
    }),
};

const SERIES: readonly { name: string; perHour: number; rateAt: Arrivals['rateAt'] }[] = [
  { name: '1 an hour', perHour: 1, rateAt: flat(1) },
  { name: '10 an hour', perHour: 10, rateAt: flat(10) },
  { name: '100 an hour', perHour: 100, rateAt: flat(100) },
  { name: '10 an hour, quiet nights', perHour: 10, rateAt: daily(10) },
];

await runBench(async (cleanup) => {
  const falseAlarms: string[][] = [];
  const delays: string[][] = [];
  const counted = new Map<string, number>();
  for (const [name, variant] of Object.entries(VARIANTS)) {
    const perWeek: string[] = [];
    const reported: string[] = [];
    for (const { name: series, perHour, rateAt } of SERIES) {
      const noise = countsOf({ from: START, to: END, rateAt, bursts: [] }, seeded(7));
      const rate = (await variant(noise, perHour)).length / WEEKS;
      counted.set(`${name}, ${series}`, rate);
      perWeek.push(rate.toFixed(2));
      const bursts = burstsIn(SINCE, END, 2 * DAY_MS, BURST, seeded(11));
      const counts = countsOf({ from: START, to: END, rateAt, bursts }, seeded(13));
      reported.push(delayText(bursts, await variant(counts, perHour)));
    }
    falseAlarms.push([name, ...perWeek]);
    delays.push([name, ...reported]);
    printProgress(name);
  }
  const columns = SERIES.map(({ name }) => name);
  table(['false alarms a week', ...columns], falseAlarms);
  console.log('');
  table(['minutes until a burst is reported (share)', ...columns], delays);
  const nights = '10 an hour, quiet nights';
  const [low, sigma] = ['spike alert, low (3)', 'mean + 3 sigma of 7 days'].map(
    (name) => counted.get(`${name}, ${nights}`) ?? Number.NaN,
  );
  target(
    'false alarms of low, flat 10 an hour',
    counted.get('spike alert, low (3), 10 an hour') ?? NaN,
    1,
    'at most',
  );
  target('false alarms with quiet nights, low / 3 sigma', low! / sigma!, 1, 'at most');
  const costs = await evaluationCost(cleanup, KEYWORDS);
  console.log('');
  table(
    ['evaluation of a keyword with 10 mentions an hour', 'ms', '10,000 keywords, seconds'],
    Object.entries(costs).map(([name, ms]) => [
      `mentions that are ${name}`,
      ms.toFixed(2),
      (ms * 10).toFixed(0),
    ]),
  );
});

/** Returns the alarms of a rule that compares the last hour with a level. */
function alarms(
  counts: readonly BinCount[],
  levelAt: (series: CountedSeries, to: number) => number,
): number[] {
  const series = new CountedSeries(counts);
  const found: number[] = [];
  for (const bin of series.binsSince(SINCE, [SEARCH])) {
    const to = bin + BIN_MS;
    if (to - (found.at(-1) ?? 0) < HOUR_MS) continue;
    if (hourBefore(series, to) >= levelAt(series, to - HOUR_MS)) found.push(to);
  }
  return found;
}

function hourBefore(series: CountedSeries, to: number): number {
  return series.count({ from: to - HOUR_MS, to }, false, [SEARCH]);
}

/** Returns the median delay of the reported bursts, and their share. */
function delayText(bursts: readonly Burst[], times: readonly number[]): string {
  const delays = bursts.flatMap(({ from, to }) => {
    const first = times.find((at) => at > from && at <= to);
    return first === undefined ? [] : [(first - from) / 60_000];
  });
  const share = Math.round((100 * delays.length) / bursts.length);
  return delays.length === 0 ? 'none' : `${median(delays).toFixed(0)} (${share} %)`;
}
