/** A larger difference is taken as the sign of a wrong `Date` header, not of a wrong clock. */
const MAX_SKEW_MS = 15 * 60_000;

/**
 * Measures the difference between an upstream's clock and ours from the `Date` of its responses. This matters because
 * the upstream's clock sets the dates of what it publishes, and our clock sets the dates of our reads. Subtracts what
 * the duration of the request and the rounding to seconds can explain.
 */
export class ClockSkew {
  /** Positive if the upstream's clock is ahead of ours. In ms. */
  aheadMs = 0;

  /** Reads the headers (lower-case names) of the response to a request that ran from `sentAt` to `answeredAt` (ms). */
  read(headers: Readonly<Record<string, string>>, sentAt: number, answeredAt: number): void {
    const date = Date.parse(headers['date'] ?? '');
    // A cached response has the date of an earlier response.
    if (Number.isNaN(date) || headers['age'] !== undefined) return;
    const atLeast = date - answeredAt;
    const atMost = date + 1000 - sentAt;
    const ahead = atLeast > 0 ? atLeast : Math.min(0, atMost);
    this.aheadMs = Math.abs(ahead) > MAX_SKEW_MS ? 0 : ahead;
  }
}
