/** A request budget: `perMinute` tokens per minute, at most `burst` at once. The caller gives the time, in ms. */
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

  /**
   * Takes a token; if no token is left, the next token that will be available. @returns the time to wait before its
   * use, in ms
   */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    this.tokens -= 1;
    return waitMs;
  }

  /** The wait before a token that is taken now could be used, in ms. */
  waitMs(nowMs: number): number {
    this.tokens = Math.min(this.burst, this.tokens + ((nowMs - this.at) * this.perMinute) / 60_000);
    this.at = nowMs;
    const left = this.tokens - 1;
    return left >= 0 ? 0 : Math.ceil((-left * 60_000) / this.perMinute);
  }
}
