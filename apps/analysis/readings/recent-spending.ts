/** Billing charges an event within seconds of its publication. Until then the balance does not show the charge. */
const REMEMBERED_MS = 10_000;

/** The credits that this process has let accounts spend in the last seconds. The balances may not show them yet. */
export class RecentSpending {
  private readonly spent: { accountId: string; credits: number; at: number }[] = [];

  /** @param now epoch ms */
  constructor(private readonly now: () => number) {}

  add(accountId: string, credits: number): void {
    this.spent.push({ accountId, credits, at: this.now() });
  }

  /** Credits of the last seconds, by account. */
  byAccount(): Map<string, number> {
    const since = this.now() - REMEMBERED_MS;
    while (this.spent[0] && this.spent[0].at < since) this.spent.shift();
    const sums = new Map<string, number>();
    for (const { accountId, credits } of this.spent)
      sums.set(accountId, (sums.get(accountId) ?? 0) + credits);
    return sums;
  }
}
