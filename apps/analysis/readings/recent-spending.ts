/**
 * How long credits are remembered. Billing charges an event within seconds after its publication; before that, the
 * balance does not show the charge.
 */
export const REMEMBERED_MS = 10_000;

/**
 * The credits that this process has let accounts spend in the last seconds. The balances possibly do not show these
 * credits yet.
 */
export class RecentSpending {
  private readonly spent = new Map<string, { accountId: string; credits: number; at: number }>();

  /** @param now returns the time in ms since the epoch */
  constructor(private readonly now: () => number) {}

  /** Remembers the maximum cost of the readings of an event. A second call for the same event replaces this cost. */
  add(eventId: string, accountId: string, credits: number): void {
    // The event is deleted first, so that the events stay in the order of their times.
    this.spent.delete(eventId);
    this.spent.set(eventId, { accountId, credits, at: this.now() });
  }

  /**
   * Returns the credits of the last seconds, by account.
   * @param except ids of events whose cost is left out, because they are read again
   */
  byAccount(except: ReadonlySet<string>): Map<string, number> {
    const since = this.now() - REMEMBERED_MS;
    const sums = new Map<string, number>();
    for (const [eventId, { accountId, credits, at }] of this.spent)
      if (at < since) this.spent.delete(eventId);
      else if (!except.has(eventId)) sums.set(accountId, (sums.get(accountId) ?? 0) + credits);
    return sums;
  }
}
