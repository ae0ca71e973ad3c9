const DAY_MS = 86_400_000;
/**
 * The forecast uses the average usage of this number of days before today and of the past part of today. Days before
 * the start of the period are not used.
 */
const AVERAGE_DAYS = 7;

/** The credits on one UTC day. */
export interface DayBalance {
  /** `2026-11-22` */
  day: string;
  /** The credits at the end of the day; for today: the credits now. Null for later days. */
  remaining: number | null;
  /** The credits expected at the start of the day; for today: the credits now. Null for earlier days. */
  forecast: number | null;
}

/** The balance over a period, and the forecast. */
export interface BurnDown {
  days: DayBalance[];
  /** The average number of credits that were used per day. */
  perDay: number;
  /** When the credits will be used up, in ISO 8601; undefined if they last longer than the period. */
  usedUpAt: string | undefined;
}

/**
 * Computes the balance of each day of a period. The balances of earlier days are computed backwards from the current
 * balance and the usage of each day; credits that were added in the period are not subtracted. The balances of later
 * days are forecast from the average usage (see `AVERAGE_DAYS`).
 * @param usage charged credits by UTC day
 * @param now ms
 */
export function burnDown(
  usage: readonly { at: string; credits: number }[],
  { periodStart, periodEnd, remaining }: { periodStart: string; periodEnd: string; remaining: number },
  now: number,
): BurnDown {
  const byDay = new Map(usage.map(({ at, credits }) => [at.slice(0, 10), credits]));
  const today = startOf(now);
  const days: DayBalance[] = [];
  let balance = remaining;
  for (let day = today; day >= startOf(Date.parse(periodStart)); day -= DAY_MS) {
    days.unshift({ day: nameOf(day), remaining: balance, forecast: day === today ? balance : null });
    balance += byDay.get(nameOf(day)) ?? 0;
  }
  const averageStart = Math.max(startOf(Date.parse(periodStart)), today - AVERAGE_DAYS * DAY_MS);
  // Only the past part of today is counted.
  const elapsedDays = Math.max((now - averageStart) / DAY_MS, 0.25);
  const recent = usage
    .filter(({ at }) => Date.parse(at) >= averageStart)
    .reduce((sum, one) => sum + one.credits, 0);
  const perDay = recent / elapsedDays;
  for (let day = today + DAY_MS; day <= Date.parse(periodEnd); day += DAY_MS)
    days.push({
      day: nameOf(day),
      remaining: null,
      forecast: Math.max(0, Math.round(remaining - (perDay * (day - now)) / DAY_MS)),
    });
  const usedUp = perDay > 0 ? now + (remaining / perDay) * DAY_MS : Infinity;
  return {
    days,
    perDay,
    usedUpAt: usedUp < Date.parse(periodEnd) ? new Date(usedUp).toISOString() : undefined,
  };
}

const startOf = (at: number) => Math.floor(at / DAY_MS) * DAY_MS;
const nameOf = (at: number) => new Date(at).toISOString().slice(0, 10);
