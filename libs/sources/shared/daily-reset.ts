const DAY_MS = 86_400_000;

/**
 * For `DailyQuota.nextReset`: the first midnight after an instant, where the upstream counts its days. In zones whose
 * clocks change some hours after midnight (Los Angeles, UTC) every day has exactly one.
 */
export function nextMidnightIn(timeZone: string): (now: Date) => Date {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    },
  });
  /** What the zone's clock shows, in ms, as if it were UTC. */
  const shownMs = (at: number): number => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  return (now) => {
    const midnightShown = (Math.floor(shownMs(now.getTime()) / DAY_MS) + 1) * DAY_MS;
    // The clock may change before midnight comes: what it shows then tells by how much the guess was wrong.
    const guess = Math.floor(now.getTime() / 1000) * 1000 + midnightShown - shownMs(now.getTime());
    return new Date(guess + midnightShown - shownMs(guess));
  };
}
