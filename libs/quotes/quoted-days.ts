/** For how long a watch ran under one quote. */
export interface QuotedPeriod {
  source: string;
  /** ms; `to` undefined while it goes on. */
  from: number;
  to: number | undefined;
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
 * as intervals fit into the time that it ran, at their price. Ordered by day, then by source.
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
  for (const { source, from, to, intervalSeconds, creditsPerCheck, firstScanCredits } of periods) {
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
    const first = dayOf(source, from);
    first.checks += 1;
    first.credits += firstScanCredits || creditsPerCheck;
  }
  return [...days.values()].sort((a, b) => (`${a.date} ${a.source}` < `${b.date} ${b.source}` ? -1 : 1));
}
