/** The quota's windows are the minutes of UTC. */
export const WINDOW_MS = 60_000;

/** How long the table's "used up" is believed; requests that an idle gateway returns are found after at most this time. */
const USED_UP_MS = 250;
/** An unused lease is returned after this time, … */
const IDLE_MS = 200;
/** … or, when the pace of the plan is slower, after the time of this many requests at that pace, … */
const IDLE_REQUESTS = 10;
/** … but after this time at the latest. */
const LONGEST_IDLE_MS = 2000;
/** A lease is at most this part of the remaining requests, so that no gateway keeps the last requests of a minute unused. */
const PART_OF_REST = 8;
/** And at most this part of the limit: these requests are lost when a gateway dies. */
const PART_OF_LIMIT = 200;

/** What one gateway knows and holds of one account's minute. */
export class AccountWindow {
  /** Leased and not spent. */
  held = 0;
  /** Requests waiting for a lease. */
  waiting = 0;
  /** The statement under way, which all of them wait for. */
  fetching: Promise<void> | undefined;
  /** A lease for later is about to be asked for. */
  isRefilling = false;
  /** Until when requests are let through unasked, because the table cannot be; in ms. */
  openUntil = 0;
  takenAt = 0;
  private used = 0;
  private usedUpAt: number | undefined;

  /** @param start of the minute, in ms */
  constructor(
    readonly start: number,
    private limit: number,
  ) {}

  get end(): number {
    return this.start + WINDOW_MS;
  }

  /** Requests that are left, as far as this gateway knows. */
  get remaining(): number {
    return Math.max(0, this.limit - this.used + this.held);
  }

  /** How much the next lease is to be, unless more requests wait for it. */
  get chunk(): number {
    const rest = Math.max(0, this.limit - this.used);
    return Math.max(1, Math.floor(Math.min(this.limit / PART_OF_LIMIT, rest / PART_OF_REST)));
  }

  /** Whether the next lease should be on its way before this one is spent. */
  get wantsMore(): boolean {
    const chunk = this.chunk;
    return this.held <= chunk / 2 && this.limit - this.used > PART_OF_REST * chunk;
  }

  /** The plan may change within the minute. */
  underLimit(limit: number): this {
    this.limit = limit;
    return this;
  }

  /** Whether the table has said so lately. */
  isUsedUp(now: number): boolean {
    return this.usedUpAt !== undefined && now - this.usedUpAt < USED_UP_MS;
  }

  receive(granted: number, used: number, wanted: number, now: number): void {
    this.held += granted;
    this.used = used;
    this.usedUpAt = granted < wanted ? now : undefined;
  }

  isIdle(now: number): boolean {
    const pace = (IDLE_REQUESTS * WINDOW_MS) / this.limit;
    return this.held > 0 && now - this.takenAt > Math.min(LONGEST_IDLE_MS, Math.max(IDLE_MS, pace));
  }

  /** Empties the hand. @returns what was in it */
  letGo(): number {
    const { held } = this;
    this.held = 0;
    this.used -= held;
    return held;
  }
}
