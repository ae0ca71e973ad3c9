import type { KeywordDefinition } from '#contracts';
import { CountDifference, type TestedAlert } from './tested-alerts.js';
import type { TestedItem } from './tested-item.js';

/** Counts the results of a backtest. */
export class BacktestSummary {
  /** Number of tested mentions. */
  items = 0;
  readonly difference = new CountDifference();
  private added = 0;
  private removed = 0;
  private readonly dropped = new Map<string, number>();
  /** The number of mentions for which each rule fired, by rule and UTC day. */
  private readonly fired = new Map<string, Map<string, number>>();

  count(item: TestedItem): void {
    const { row, dropped, rules, added, removed } = item;
    this.difference.add(item);
    this.items += 1;
    this.added += added.length;
    this.removed += removed.length;
    if (dropped) this.dropped.set(dropped.reason, (this.dropped.get(dropped.reason) ?? 0) + 1);
    const day = row.occurred_at.slice(0, 10);
    for (const rule of rules) if (rule.fired) this.countFired(rule.ruleId, day);
  }

  private countFired(ruleId: string, day: string): void {
    const days = this.fired.get(ruleId) ?? new Map<string, number>();
    days.set(day, (days.get(day) ?? 0) + 1);
    this.fired.set(ruleId, days);
  }

  /**
   * Returns the counts as the interface returns them, with all enabled rules in their order. Must be called only once,
   * because each call adds the alerts of rules to the counts.
   */
  view({ rules }: KeywordDefinition, alerts: readonly TestedAlert[]) {
    for (const { ruleId, at } of alerts) if (ruleId !== null) this.countFired(ruleId, at.slice(0, 10));
    return {
      items: this.items,
      byRule: rules
        .filter(({ enabled }) => enabled)
        .map(({ id, name }) => {
          const days = [...(this.fired.get(id) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
          return {
            ...{ ruleId: id, name, fired: days.reduce((sum, [, count]) => sum + count, 0) },
            perDay: days.map(([date, count]) => ({ date, count })),
          };
        }),
      dropped: [...this.dropped]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([reason, count]) => ({ reason, count })),
      alerts,
      added: this.added,
      removed: this.removed,
    };
  }
}
