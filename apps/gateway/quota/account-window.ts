/** Length of the quota's window: a minute of UTC. */
export const WINDOW_MS = 60_000;

/**
 * All gateways share the table `request_quotas`. After the table has reported that the minute is used up, a gateway
 * refuses requests for this time without asking the table again. Then the gateway can use requests that another gateway
 * has returned.
 */
const USED_UP_MS = 250;
/**
 * A lease is a number of requests that the table allows one gateway to admit. An unused lease is returned after this
 * time. With a shorter time, an account that sends one request a second would cause two writes for each request: the
 * lease and its return.
 */
const IDLE_MS = 1000;
/**
 * A lease is at most the remaining requests of the minute divided by this number, so that no gateway keeps the last
 * requests unused. A lease is larger if more requests already wait, and never smaller than 1.
 */
const PART_OF_REST = 8;
/**
 * A lease is at most the plan's limit divided by this number, because a gateway that dies loses its leased requests.
 * Here too, a lease is larger if more requests already wait, and never smaller than 1.
 */
const PART_OF_LIMIT = 200;

/** The quota of an account's minute as one gateway knows it, and the requests that this gateway has leased. */
export class AccountWindow {
  /** Leased requests that are not used yet. */
  leased = 0;
  /** Number of requests that wait for a lease. */
  waiting = 0;
  /** The running statement, for which all waiting requests wait. */
  fetching: Promise<void> | undefined;
  /** True if the next lease is about to be requested. */
  isRefilling = false;
  /** Requests are admitted without a count until this time in ms, because the table is unavailable. */
  openUntil = 0;
  /** Time of the last request, in ms. */
  lastRequestAt = 0;
  private used = 0;
  private usedUpAt: number | undefined;

  /** @param start start of the minute, in ms */
  constructor(
    readonly start: number,
    private limit: number,
  ) {}

  get end(): number {
    return this.start + WINDOW_MS;
  }

  /** The number of remaining requests, as far as this gateway knows. */
  get remaining(): number {
    return Math.max(0, this.limit - this.used + this.leased);
  }

  /** The size of the next lease, unless more requests wait for it. */
  get leaseSize(): number {
    const rest = Math.max(0, this.limit - this.used);
    return Math.max(1, Math.floor(Math.min(this.limit / PART_OF_LIMIT, rest / PART_OF_REST)));
  }

  /** Returns whether to request the next lease before this one is used up. */
  get wantsMore(): boolean {
    const leaseSize = this.leaseSize;
    return this.leased <= leaseSize / 2 && this.limit - this.used > PART_OF_REST * leaseSize;
  }

  /** Sets the limit, because the plan can change within the minute. */
  withLimit(limit: number): this {
    this.limit = limit;
    return this;
  }

  /** Returns whether the table reported recently that the minute is used up. */
  isUsedUp(now: number): boolean {
    return this.usedUpAt !== undefined && now - this.usedUpAt < USED_UP_MS;
  }

  /** Adds a lease that the table has granted. */
  receive(granted: number, used: number, wanted: number, now: number): void {
    this.leased += granted;
    this.used = used;
    this.usedUpAt = granted < wanted ? now : undefined;
  }

  /** Returns true if this gateway must return its leased requests, because it has not used them for too long. */
  isIdle(now: number): boolean {
    return this.leased > 0 && now - this.lastRequestAt > IDLE_MS;
  }

  /** Gives up all leased requests. @returns their number */
  returnAll(): number {
    const { leased } = this;
    this.leased = 0;
    this.used -= leased;
    return leased;
  }
}
