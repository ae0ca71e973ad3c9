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
 * Returns a fault for each day on which a watch was charged more than its quote allows. Also returns a fault for each
 * watch that was charged more over the whole time. In addition to the quote, a day allows `extraChecks` and
 * `scansBefore`, and the whole time allows `extraChecks`. Watches without a stored quote are not compared.
 */
export function quoteFaults(input: AuditInput): string[] {
  const faults: string[] = [];
  const charged = chargedByWatch(input);
  for (const [watchId, quotes] of quotesByWatch(input)) {
    const days = watchDays(quotes, charged.get(watchId) ?? new Map<string, number>(), input.now);
    const name = `watch ${watchId} on ${quotes[0]?.source}`;
    for (const [date, day] of days) {
      const begin = Date.parse(date);
      const max =
        day.quoted + extraChecks(quotes, begin, begin + DAY_MS, input.now) + scansBefore(quotes, begin);
      if (day.charged > max) faults.push(excess(`${name} on ${date}`, day));
    }
    const sum = (key: keyof WatchDay) => [...days.values()].reduce((total, day) => total + day[key], 0);
    const whole = { charged: sum('charged'), quoted: sum('quoted') };
    if (whole.charged > whole.quoted + extraChecks(quotes, -Infinity, Infinity, input.now))
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
 * Returns the credits for additional checks of a time range. In each quoted period, one check more can run than the
 * length of the period allows. The reason: the times of checks depend on the search, not on the start of the period. If
 * the previous period ended less than one interval before the end of this period, only a fraction of a check is added:
 * that time divided by the interval. So many short periods do not allow many checks. After a change of the interval,
 * one more check is added by the same rule, because the first check can still be due by the previous interval. The
 * result is at least the price of one check, because a check runs as a whole.
 */
function extraChecks(quotes: readonly QuotedPeriod[], begin: number, end: number, now: number): number {
  const touched = quotes.filter(({ from, to }) => from < end && (to ?? now) >= begin);
  const sum = touched.reduce((total, { to, previousTo, intervalSeconds, creditsPerCheck }) => {
    const passed = previousTo === undefined ? Infinity : (to ?? now) - previousTo;
    const checksAt = (seconds: number) => Math.min(1, passed / 1000 / seconds);
    const before =
      quotes.find((one) => one.to !== undefined && one.to === previousTo)?.intervalSeconds ?? intervalSeconds;
    const early = before === intervalSeconds ? 0 : checksAt(before);
    return total + creditsPerCheck * (checksAt(intervalSeconds) + early);
  }, 0);
  return Math.max(sum, ...touched.map(({ creditsPerCheck }) => creditsPerCheck));
}

/**
 * Returns the credits of first scans on the previous day, because a first scan at the end of a day can be recorded on
 * the next day.
 */
function scansBefore(quotes: readonly QuotedPeriod[], begin: number): number {
  return quotes
    .filter(({ from }) => from >= begin - DAY_MS && from < begin)
    .reduce((sum, { firstScanCredits }) => sum + firstScanCredits, 0);
}

function excess(what: string, { charged, quoted }: WatchDay): string {
  return `${what}: checks were charged ${charged}, but quoted at ${quoted.toFixed(1)} at most`;
}
