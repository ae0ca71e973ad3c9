/**
 * A request budget: `perMinute` tokens per minute, at most `burst` without a wait between them. The bucket is full at
 * the start. The caller gives the time, in ms.
 */
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
   * Takes a token. If no token is left, takes the next token that becomes available.
   * @returns the time in ms until the token can be used; 0 if a token was left
   */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    this.tokens -= 1;
    return waitMs;
  }

  /** Returns the time in ms until a token could be used if it was taken now. Takes no token. */
  waitMs(nowMs: number): number {
    // The clock can be set back. Then no time counts as passed, but the tokens that were earned before stay.
    const passedMs = Math.max(0, nowMs - this.at);
    this.tokens = Math.min(this.burst, this.tokens + (passedMs * this.perMinute) / 60_000);
    this.at = nowMs;
    const left = this.tokens - 1;
    return left >= 0 ? 0 : Math.ceil((-left * 60_000) / this.perMinute);
  }
}
