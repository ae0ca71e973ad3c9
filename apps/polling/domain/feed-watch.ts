/** How far a source's newest-items feed has been followed: kept across restarts. */
export interface FeedState {
  newestItemId: string;
  /** How long it has been read without a newer item, in ms. */
  quietMs: number;
  /** Instant of the last read, in ms since the epoch. */
  readAt: number;
}

/** Reads far apart say little about the time between them: one counts for at most this part of the patience. */
const LONGEST_STEP = 0.1;

/**
 * Follows the newest item of a feed. A feed that answers and yet has shown nothing new for longer than its source is
 * ever quiet is frozen: silence would look like "no mentions".
 */
export class FeedWatch {
  constructor(
    private readonly quietMs: number,
    private kept?: FeedState,
  ) {}

  get state(): FeedState | undefined {
    return this.kept;
  }

  /** How long the feed has been frozen, in ms; undefined while it is not. */
  get frozenForMs(): number | undefined {
    return this.kept && this.kept.quietMs > this.quietMs ? this.kept.quietMs : undefined;
  }

  /**
   * Notes what a search gave while the feed is frozen: where it is younger than the silence, the upstream moves, whatever
   * its feed shows.
   */
  see(items: readonly { publishedAt?: string | null | undefined }[], atMs: number): void {
    const { frozenForMs, kept } = this;
    if (!kept || frozenForMs === undefined) return;
    const since = atMs - frozenForMs;
    if (items.some(({ publishedAt }) => publishedAt && Date.parse(publishedAt) > since))
      this.kept = { ...kept, quietMs: 0 };
  }

  /** Notes a read. `newestItemId`: the newest item that it gave, if any. */
  read(newestItemId: string | undefined, atMs: number): void {
    const { kept } = this;
    if (!kept || (newestItemId !== undefined && newestItemId !== kept.newestItemId)) {
      this.kept = { newestItemId: newestItemId ?? '', quietMs: 0, readAt: atMs };
      return;
    }
    const stepMs = Math.min(Math.max(0, atMs - kept.readAt), this.quietMs * LONGEST_STEP);
    this.kept = { ...kept, quietMs: kept.quietMs + stepMs, readAt: atMs };
  }
}
