/**
 * A larger difference is reported as trouble. If the upstream's clock seems to be ahead by more, its `Date` header is
 * probably wrong: if it was used, items that were published after the first check of a watch would count as older.
 */
const MAX_SKEW_MS = 15 * 60_000;
/**
 * If our clock is ahead by more, the difference is not used: reads would go too far back. Up to this difference it is
 * used, because without it reads would begin after the newest items.
 */
const MAX_LEAD_MS = 24 * 3_600_000;

/**
 * Measures the difference between an upstream's clock and ours from the `Date` of its responses. This matters because
 * the upstream's clock sets the dates of what it publishes, and our clock sets the dates of our reads. Subtracts what
 * the duration of the request and the rounding to seconds can explain.
 */
export class ClockSkew {
  private measuredMs = 0;

  /** The difference to use: positive if the upstream's clock is ahead of ours, negative if it is behind. In ms. */
  get aheadMs(): number {
    const isUsed = this.measuredMs <= MAX_SKEW_MS && this.measuredMs >= -MAX_LEAD_MS;
    return isUsed ? this.measuredMs : 0;
  }

  /** Returns a text for people if the clocks of this machine and of the source differ too much. */
  troubleWith(source: string): string | undefined {
    const differMs = Math.abs(this.measuredMs);
    if (differMs <= MAX_SKEW_MS) return undefined;
    const ours = this.measuredMs < 0 ? 'ahead' : 'behind';
    return `the clocks of this machine and of ${source} differ by ${Math.round(differMs / 60_000)} min (this machine is ${ours}): new items can be missed; check the clock of this machine`;
  }

  /** Reads the headers (lower-case names) of the response to a request that ran from `sentAt` to `answeredAt` (ms). */
  read(headers: Readonly<Record<string, string>>, sentAt: number, answeredAt: number): void {
    const date = Date.parse(headers['date'] ?? '');
    // A cached response has the date of an earlier response.
    if (Number.isNaN(date) || headers['age'] !== undefined) return;
    const atLeast = date - answeredAt;
    const atMost = date + 1000 - sentAt;
    this.measuredMs = atLeast > 0 ? atLeast : Math.min(0, atMost);
  }
}
