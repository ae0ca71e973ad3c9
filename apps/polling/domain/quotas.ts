/** What an upstream allows a day. */
interface Quota {
  points: number;
  /** The first reset after `now`. */
  nextReset(now: Date): Date;
}

/** What is spent of one quota, and when it begins anew (ms since the epoch). */
export interface Spent {
  points: number;
  resetsAt: number;
}

/** A lane's part of what the upstream allows a day, by the quota's name. */
export class Quotas {
  private readonly spent = new Map<string, Spent>();

  constructor(
    private readonly quotas: Readonly<Record<string, Quota>>,
    /** Lanes among which each quota is divided. */
    private readonly lanes: number,
    kept: Readonly<Record<string, Spent>> = {},
  ) {
    for (const [name, spent] of Object.entries(kept)) this.spent.set(name, spent);
  }

  /** What is to be kept across restarts. */
  get state(): Record<string, Spent> {
    return Object.fromEntries(this.spent);
  }

  /** When the quota begins anew, where it has no room for so many points; undefined where it has. */
  fullUntil(name: string, points: number, now: Date): Date | undefined {
    const quota = this.quotas[name];
    if (!quota) return undefined;
    const spent = this.current(name, quota, now);
    return spent.points + points > quota.points / this.lanes ? new Date(spent.resetsAt) : undefined;
  }

  /**
   * Takes points, unless that would be more than is left.
   * @returns when the quota begins anew, where nothing was taken
   */
  take(name: string, points: number, now: Date): Date | undefined {
    const fullUntil = this.fullUntil(name, points, now);
    const quota = this.quotas[name];
    if (quota && !fullUntil) this.current(name, quota, now).points += points;
    return fullUntil;
  }

  /** The upstream says that nothing is left. */
  exhaust(name: string, until: Date): void {
    const quota = this.quotas[name];
    if (!quota) return;
    const spent = this.spent.get(name);
    // Two answers may have been under way together: the longer wait holds.
    const isSpent = spent !== undefined && spent.points >= quota.points;
    const resetsAt = Math.max(until.getTime(), isSpent ? spent.resetsAt : 0);
    this.spent.set(name, { points: quota.points, resetsAt });
  }

  private current(name: string, quota: Quota, now: Date): Spent {
    const spent = this.spent.get(name);
    if (spent && now.getTime() < spent.resetsAt) return spent;
    const fresh = { points: 0, resetsAt: quota.nextReset(now).getTime() };
    this.spent.set(name, fresh);
    return fresh;
  }
}
