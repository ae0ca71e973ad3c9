/** A period during which a watch ran under one quote. */
export interface QuotedPeriod {
  watchId: string;
  source: string;
  /** In ms. `to` is undefined while the period continues. */
  from: number;
  to: number | undefined;
  /** The end of the watch's previous period, in ms; undefined for its first period. */
  previousTo: number | undefined;
  intervalSeconds: number;
  creditsPerCheck: number;
  /**
   * In the watch's first period: the maximum price of its first scan. 0 if the first check is an ordinary check, and in
   * all later periods.
   */
  firstScanCredits: number;
}

/** The quote for one source and UTC day. */
export interface QuotedDay {
  source: string;
  /** `2026-03-04` */
  date: string;
  /** A fraction is possible in the result of `quotedByDay`; a whole number in that of `wholeByDay`. */
  checks: number;
  credits: number;
}

const DAY_MS = 86_400_000;

/**
 * Sums up periods by source and UTC day, ordered by day, then by source. A period has one check on the day when the
 * watch begins, and then one check per interval while the watch runs. Each check has the price of the period. A pause
 * counts like running time up to one check, because the check that became due during the pause is made when the watch
 * resumes.
 * @param since start of the requested window, ms
 * @param until end of the window, ms; later time is not quoted
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
 * Sums up periods like `quotedByDay`, but in whole checks: a check counts once, on the day on which the interval
 * before it begins; the first check counts on the day on which the watch begins. A day's credits are the price of its
 * checks; a first scan has its own price instead of the price of a check.
 */
export function wholeByDay(periods: readonly QuotedPeriod[], since: number, until: number): QuotedDay[] {
  const groups = new Map<string, QuotedPeriod[]>();
  for (const period of periods) {
    const key = `${period.watchId} ${period.creditsPerCheck}`;
    groups.set(key, [...(groups.get(key) ?? []), period]);
  }
  const days = new Map<string, QuotedDay>();
  for (const group of groups.values()) {
    const price = group[0]?.creditsPerCheck ?? 0;
    let soFar = 0;
    for (const { source, date, checks, credits } of quotedByDay(group, since, until)) {
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

/** Rounds up. First removes the last digits, which are rounding errors in a sum of fractions. */
function whole(value: number): number {
  return Math.ceil(Math.round(value * 1e6) / 1e6);
}

function inOrder(days: QuotedDay[]): QuotedDay[] {
  return days.sort((a, b) => (`${a.date} ${a.source}` < `${b.date} ${b.source}` ? -1 : 1));
}
