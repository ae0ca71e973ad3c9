/** More than this is a wrong `Date` header rather than a wrong clock. */
const MOST_MS = 15 * 60_000;

/**
 * Follows how far an upstream's clock is from ours, by the `Date` of its answers: what it publishes is dated by its clock,
 * what we look at by ours. Counts only what cannot be explained by the request's own time and by whole seconds.
 */
export class ClockSkew {
  /** Positive: the upstream's clock is ahead. In ms. */
  aheadMs = 0;

  /** Reads the headers (lower-case names) of an answer to a request that was under way from `sentAt` to `answeredAt` (ms). */
  read(headers: Readonly<Record<string, string>>, sentAt: number, answeredAt: number): void {
    const date = Date.parse(headers['date'] ?? '');
    // A cache's answer is dated by when it was made.
    if (Number.isNaN(date) || headers['age'] !== undefined) return;
    const atLeast = date - answeredAt;
    const atMost = date + 1000 - sentAt;
    const ahead = atLeast > 0 ? atLeast : Math.min(0, atMost);
    this.aheadMs = Math.abs(ahead) > MOST_MS ? 0 : ahead;
  }
}
