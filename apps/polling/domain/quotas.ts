/** A daily quota of an upstream. */
interface Quota {
  points: number;
  /** Returns the first reset after `now`. */
  nextReset(now: Date): Date;
}

/** The used part of one quota, and the time of its reset (ms since the epoch). */
export interface Spent {
  points: number;
  resetsAt: number;
}

/** A lane's share of the upstream's daily quotas, by name of the quota. */
export class Quotas {
  private readonly spent = new Map<string, Spent>();

  constructor(
    private readonly quotas: Readonly<Record<string, Quota>>,
    /** Number of lanes that share each quota. */
    private readonly lanes: number,
    kept: Readonly<Record<string, Spent>> = {},
  ) {
    for (const [name, spent] of Object.entries(kept)) this.spent.set(name, spent);
  }

  /** The state to keep over restarts. */
  get state(): Record<string, Spent> {
    return Object.fromEntries(this.spent);
  }

  /** Returns the next reset if the quota has fewer than `points` points left; undefined if it has enough. */
  fullUntil(name: string, points: number, now: Date): Date | undefined {
    const quota = this.quotas[name];
    if (!quota) return undefined;
    const spent = this.current(name, quota, now);
    return spent.points + points > quota.points / this.lanes ? new Date(spent.resetsAt) : undefined;
  }

  /**
   * Takes points if enough points are left.
   * @returns the next reset if nothing was taken
   */
  take(name: string, points: number, now: Date): Date | undefined {
    const fullUntil = this.fullUntil(name, points, now);
    const quota = this.quotas[name];
    if (quota && !fullUntil) this.current(name, quota, now).points += points;
    return fullUntil;
  }

  /** Records that the upstream reports the quota as used up. */
  exhaust(name: string, until: Date): void {
    const quota = this.quotas[name];
    if (!quota) return;
    const spent = this.spent.get(name);
    // If two responses arrived at the same time, the longer wait applies.
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
