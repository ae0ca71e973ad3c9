import { quotedByDay } from '#quotes';
import type { AuditInput } from './audit.js';

/** What one source did on one UTC day, and what that was quoted at. */
export interface AuditDay {
  source: string;
  /** `2026-03-04` */
  date: string;
  /** As the stream still has them. */
  checks: number;
  failedChecks: number;
  /** For checks, in credits. */
  charged: number;
  /** For readings of items and lookups, of which a quote says nothing. */
  chargedOtherwise: number;
  /** Of `charged`: by watches without a quote on record. */
  chargedUnquoted: number;
  /** At the most: every check of the time that the watches ran. */
  quoted: number;
}

const DAY_MS = 86_400_000;
/**
 * Checks of a watch that may fall into a span beside those that its length has room for: the first of all, one that
 * was late from before, one that was early from behind.
 */
const CHECKS_AT_EDGES = 3;

/** By day, then by source. */
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
      const { source, at, reference, checkId, watchId } = cause.value;
      const day = dayOf(source, at.slice(0, 10));
      const isCheck = reference === checkId;
      day[isCheck ? 'charged' : 'chargedOtherwise'] -= amount;
      if (isCheck && !quoted.has(watchId)) day.chargedUnquoted -= amount;
    }
  for (const { source, date, credits } of quotedByDay(input.quotes, 0, input.now))
    dayOf(source, date).quoted = credits;
  return [...days.values()].sort((a, b) => (`${a.date} ${a.source}` < `${b.date} ${b.source}` ? -1 : 1));
}

/** Where more was charged than was quoted: on a day, or over the whole time. */
export function quoteFaults(input: AuditInput, days: readonly AuditDay[]): string[] {
  const faults = days.flatMap((day) => {
    const charged = day.charged - day.chargedUnquoted;
    const begin = Date.parse(day.date);
    // A first scan at the very end of a day may be told on the next.
    const scans = firstScans(input, day.source, begin - DAY_MS, begin);
    const most = day.quoted + edges(input, day.source, begin, begin + DAY_MS) + scans;
    return charged > most ? [excess(`${day.source} on ${day.date}`, charged, day.quoted)] : [];
  });
  for (const source of new Set(days.map((day) => day.source))) {
    const own = days.filter((day) => day.source === source);
    const charged = own.reduce((sum, day) => sum + day.charged - day.chargedUnquoted, 0);
    const quoted = own.reduce((sum, day) => sum + day.quoted, 0);
    if (charged > quoted + edges(input, source, -Infinity, Infinity))
      faults.push(excess(`${source} over the whole time`, charged, quoted));
  }
  return faults;
}

function edges({ quotes, now }: AuditInput, source: string, begin: number, end: number): number {
  return quotes
    .filter((quote) => quote.source === source && quote.from < end && (quote.to ?? now) >= begin)
    .reduce((sum, { creditsPerCheck }) => sum + CHECKS_AT_EDGES * creditsPerCheck, 0);
}

function firstScans({ quotes }: AuditInput, source: string, begin: number, end: number): number {
  return quotes
    .filter((quote) => quote.source === source && quote.from >= begin && quote.from < end)
    .reduce((sum, { firstScanCredits }) => sum + firstScanCredits, 0);
}

function excess(what: string, charged: number, quoted: number): string {
  return `${what}: checks were charged ${charged}, and quoted at ${quoted.toFixed(1)} at the most`;
}
