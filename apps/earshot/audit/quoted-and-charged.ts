import type { Charge } from '#contracts';
import { quotedByDay, type QuotedPeriod } from '#quotes';
import type { AuditInput } from './audit-input.js';

/** The work of one source on one UTC day, and its quote. */
export interface AuditDay {
  source: string;
  /** `2026-03-04` */
  date: string;
  /** The number of checks in the stream that did not fail. */
  checks: number;
  failedChecks: number;
  /** Credits for checks, and for brands in answers of AI engines. */
  charged: number;
  /** Credits for work without a quote: other readings of items, lookups, semantic questions, analyses, Explores. */
  chargedOtherwise: number;
  /** The part of `charged` for watches without a stored quote. */
  chargedUnquoted: number;
  /** The maximum credits for the checks of the time in which the watches ran. */
  quoted: number;
}

const DAY_MS = 86_400_000;
/** Work that was running when something changed (its watch ended or was paused, for example) is done within this time, in ms. */
export const RECORD_MS = 3_600_000;

/** Returns the work and the quote of each source and UTC day, sorted by day, then by source. */
export function auditDays(input: AuditInput): AuditDay[] {
  const days = new Map<string, AuditDay>();
  const dayOf = (source: string, date: string): AuditDay => {
    const none = {
      checks: 0,
      failedChecks: 0,
      charged: 0,
      chargedOtherwise: 0,
      chargedUnquoted: 0,
      quoted: 0,
    };
    const day = days.get(`${date} ${source}`) ?? { source, date, ...none };
    days.set(`${date} ${source}`, day);
    return day;
  };
  for (const { source, at, kind } of input.facts) {
    if (kind === 'check') dayOf(source, at.slice(0, 10)).checks += 1;
    if (kind === 'failed check') dayOf(source, at.slice(0, 10)).failedChecks += 1;
  }
  const quoted = new Set(input.quotes.map(({ watchId }) => watchId));
  for (const { decision } of input.decisions)
    for (const { amount, cause } of decision.movements) {
      if (cause.case !== 'charge') continue;
      const { source, at, watchId } = cause.value;
      const day = dayOf(source, at.slice(0, 10));
      day[isInQuote(cause.value) ? 'charged' : 'chargedOtherwise'] -= amount;
      if (isInQuote(cause.value) && !quoted.has(watchId)) day.chargedUnquoted -= amount;
    }
  for (const { source, date, credits } of quotedByDay(input.quotes, 0, input.now))
    dayOf(source, date).quoted = credits;
  return [...days.values()].sort((a, b) => (`${a.date} ${a.source}` < `${b.date} ${b.source}` ? -1 : 1));
}

/** Returns whether a quote contains this work: checks, and other brands in answers of AI engines. */
function isInQuote({ operation, reference, checkId }: Charge): boolean {
  return reference === checkId || operation === 'co_brands';
}

/** The quote of a watch on one UTC day, and the charges for the work that the quote contains. */
interface WatchDay {
  charged: number;
  quoted: number;
}

/**
 * Returns a fault for each day on which a watch was charged more than its checks can cost. Also returns a fault for each
 * watch that was charged more over the whole time. Watches without a stored quote are not compared.
 */
export function quoteFaults(input: AuditInput): string[] {
  const faults: string[] = [];
  const charged = chargedByWatch(input);
  for (const [watchId, quotes] of quotesByWatch(input)) {
    const days = watchDays(quotes, charged.get(watchId) ?? new Map<string, number>(), input.now);
    const name = `watch ${watchId} on ${quotes[0]?.source}`;
    // Only the first check can be a first scan. It can run long after the watch began: if it failed, or after a pause.
    const firstScan = Math.max(...quotes.map(({ firstScanCredits }) => firstScanCredits));
    const scanDate = [...(charged.get(watchId)?.keys() ?? [])].sort()[0];
    for (const [date, day] of days) {
      const begin = Date.parse(date);
      const max = maxCredits(quotes, begin, begin + DAY_MS, input.now) + (date === scanDate ? firstScan : 0);
      if (day.charged > max) faults.push(excess(`${name} on ${date}`, day));
    }
    const sum = (key: keyof WatchDay) => [...days.values()].reduce((total, day) => total + day[key], 0);
    const whole = { charged: sum('charged'), quoted: sum('quoted') };
    if (whole.charged > maxCredits(quotes, -Infinity, Infinity, input.now) + firstScan)
      faults.push(excess(`${name} over the whole time`, whole));
  }
  return faults;
}

function quotesByWatch({ quotes }: AuditInput): Map<string, QuotedPeriod[]> {
  const watches = new Map<string, QuotedPeriod[]>();
  for (const quote of quotes) watches.set(quote.watchId, [...(watches.get(quote.watchId) ?? []), quote]);
  return watches;
}

/** Returns the charged credits by watch, then by day. */
function chargedByWatch({ decisions }: AuditInput): Map<string, Map<string, number>> {
  const watches = new Map<string, Map<string, number>>();
  for (const { decision } of decisions)
    for (const { amount, cause } of decision.movements) {
      if (cause.case !== 'charge' || !isInQuote(cause.value)) continue;
      const { watchId, at } = cause.value;
      const days = watches.get(watchId) ?? new Map<string, number>();
      watches.set(watchId, days);
      const date = at.slice(0, 10);
      days.set(date, (days.get(date) ?? 0) - amount);
    }
  return watches;
}

function watchDays(
  quotes: readonly QuotedPeriod[],
  charged: ReadonlyMap<string, number>,
  now: number,
): Map<string, WatchDay> {
  const days = new Map([...charged].map(([date, credits]) => [date, { charged: credits, quoted: 0 }]));
  for (const { date, credits } of quotedByDay(quotes, 0, now))
    days.set(date, { charged: charged.get(date) ?? 0, quoted: credits });
  return days;
}

/**
 * Returns the maximum credits for the checks of a time range. The first check after a change of the quote can be due at
 * any time. Each later check belongs to a tick of the interval: no two checks belong to the same tick. So the number of
 * checks is at most the number of ticks, and one more. Half an interval is added, because older releases made a check
 * earlier if the interval of a paused watch became shorter and then longer again. A pause counts as two intervals at
 * most: one check runs when the watch resumes, and one tick more fits because a pause does not end at a tick.
 */
function maxCredits(quotes: readonly QuotedPeriod[], begin: number, end: number, now: number): number {
  const within = (from: number, to: number) => Math.max(0, Math.min(to, end) - Math.max(from, begin));
  return runsOf(quotes, now).reduce((credits, { periods, to, intervalMs, creditsPerCheck }) => {
    if ((periods[0]?.from ?? 0) >= end || to + RECORD_MS < begin) return credits;
    const time = periods.reduce((sum, period, n) => {
      const pausedAt = periods[n - 1]?.to ?? period.from;
      const paused = Math.min(within(pausedAt, period.from), 2 * intervalMs);
      return sum + within(period.from, period.to ?? now) + paused;
    }, 0);
    return credits + creditsPerCheck * (1 + Math.ceil(time / intervalMs + 0.5));
  }, 0);
}

/** Successive periods of a watch with the same interval and price. */
interface Run {
  periods: QuotedPeriod[];
  to: number;
  intervalMs: number;
  creditsPerCheck: number;
}

function runsOf(quotes: readonly QuotedPeriod[], now: number): Run[] {
  const runs: Run[] = [];
  for (const period of quotes.toSorted((a, b) => a.from - b.from)) {
    const [intervalMs, to] = [period.intervalSeconds * 1000, period.to ?? now];
    const run = runs.at(-1);
    if (run?.intervalMs === intervalMs && run.creditsPerCheck === period.creditsPerCheck) {
      run.periods.push(period);
      run.to = to;
    } else runs.push({ periods: [period], to, intervalMs, creditsPerCheck: period.creditsPerCheck });
  }
  return runs;
}

function excess(what: string, { charged, quoted }: WatchDay): string {
  return `${what}: checks were charged ${charged}, but quoted at ${quoted.toFixed(1)} at most`;
}
