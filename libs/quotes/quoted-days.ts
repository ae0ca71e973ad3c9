/** For how long a watch ran under one quote. */
export interface QuotedPeriod {
  watchId: string;
  source: string;
  /** ms; `to` undefined while it goes on. */
  from: number;
  to: number | undefined;
  /** ms: when the watch's period before it ended; undefined for its first. */
  previousTo: number | undefined;
  intervalSeconds: number;
  creditsPerCheck: number;
  /** What its first check costs at the most; 0 where that is a check like any other. */
  firstScanCredits: number;
}

/** What was quoted for one source and UTC day. */
export interface QuotedDay {
  source: string;
  /** `2026-03-04` */
  date: string;
  /** Pro rata: checks and credits are fractions where a day was not run through. */
  checks: number;
  credits: number;
}

const DAY_MS = 86_400_000;

/**
 * What periods come to for each source and UTC day: a check when the watch begins, on its day, and from then on as many
 * as intervals fit into the time that it ran, at their price. A pause counts like time that it ran, up to one check: the
 * one that fell due in it is made when the watch runs again. Ordered by day, then by source.
 * @param since of the time that is looked at, ms
 * @param until its end, ms; what has not been run through yet is not quoted
 */
export function quotedByDay(periods: readonly QuotedPeriod[], since: number, until: number): QuotedDay[] {
  const days = new Map<string, QuotedDay>();
  const dayOf = (source: string, at: number): QuotedDay => {
    const date = new Date(at).toISOString().slice(0, 10);
    const key = `${date} ${source}`;
    const day = days.get(key) ?? { source, date, checks: 0, credits: 0 };
    days.set(key, day);
    return day;
  };
  for (const period of periods) {
    const { source, from, to, previousTo, intervalSeconds, creditsPerCheck, firstScanCredits } = period;
    const end = Math.min(to ?? until, until);
    for (let at = Math.max(from, since); at < end;) {
      const next = Math.min(end, (Math.floor(at / DAY_MS) + 1) * DAY_MS);
      const day = dayOf(source, at);
      const checks = (next - at) / 1000 / intervalSeconds;
      day.checks += checks;
      day.credits += checks * creditsPerCheck;
      at = next;
    }
    if (from < since || from >= until) continue;
    const begun = dayOf(source, from);
    const checks = previousTo === undefined ? 1 : Math.min(1, (from - previousTo) / 1000 / intervalSeconds);
    begun.checks += checks;
    begun.credits += firstScanCredits || checks * creditsPerCheck;
  }
  return inOrder([...days.values()]);
}

/**
 * As `quotedByDay`, in whole checks: what a watch has begun of a check counts on the day on which it was begun, and never
 * again. A day's credits are its checks at their price, and what first scans cost beside.
 */
export function wholeByDay(periods: readonly QuotedPeriod[], since: number, until: number): QuotedDay[] {
  const groups = new Map<string, QuotedPeriod[]>();
  for (const period of periods) {
    const key = `${period.watchId} ${period.creditsPerCheck}`;
    groups.set(key, [...(groups.get(key) ?? []), period]);
  }
  const days = new Map<string, QuotedDay>();
  for (const alike of groups.values()) {
    const price = alike[0]?.creditsPerCheck ?? 0;
    let soFar = 0;
    for (const { source, date, checks, credits } of quotedByDay(alike, since, until)) {
      const begun = whole(soFar + checks) - whole(soFar);
      soFar += checks;
      const key = `${date} ${source}`;
      const day = days.get(key) ?? { source, date, checks: 0, credits: 0 };
      day.checks += begun;
      day.credits += begun * price + Math.round(credits - checks * price);
      days.set(key, day);
    }
  }
  return inOrder([...days.values()]);
}

/** The last digits of a sum of fractions say nothing. */
function whole(value: number): number {
  return Math.ceil(Math.round(value * 1e6) / 1e6);
}

function inOrder(days: QuotedDay[]): QuotedDay[] {
  return days.sort((a, b) => (`${a.date} ${a.source}` < `${b.date} ${b.source}` ? -1 : 1));
}
