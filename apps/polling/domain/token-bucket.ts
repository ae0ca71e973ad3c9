/** A request budget: `perMinute` tokens a minute, at most `burst` at once. Time comes from the caller, in ms. */
export class TokenBucket {
  private tokens: number;
  private at: number;

  constructor(
    private readonly perMinute: number,
    private readonly burst: number,
    nowMs: number,
  ) {
    this.tokens = burst;
    this.at = nowMs;
  }

  /** Takes a token, in advance if need be. @returns how long to wait before using it, in ms */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    this.tokens -= 1;
    return waitMs;
  }

  /** How long a token taken now would have to wait, in ms. */
  waitMs(nowMs: number): number {
    this.tokens = Math.min(this.burst, this.tokens + ((nowMs - this.at) * this.perMinute) / 60_000);
    this.at = nowMs;
    const left = this.tokens - 1;
    return left >= 0 ? 0 : Math.ceil((-left * 60_000) / this.perMinute);
  }
}
