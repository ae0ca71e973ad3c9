/** How far a source's feed of newest items has been read. Kept over restarts. */
export interface FeedState {
  newestItemId: string;
  /** How long the feed has been read without a newer item, in ms. */
  quietMs: number;
  /** Time of the last read, in ms since the epoch. */
  readAt: number;
}

/**
 * Reads that are far apart prove little about the time between them: one read counts for at most this part of the
 * longest time without a new item that is normal for the source.
 */
const MAX_STEP = 0.1;

/**
 * Follows the newest item of a feed. A feed counts as frozen if it responds but has shown no new item for longer than
 * is normal for its source. Without this state, users would believe that there are no mentions.
 */
export class FeedWatch {
  constructor(
    /** The longest time without a new item that is normal for the source, in ms. */
    private readonly quietMs: number,
    private kept?: FeedState,
  ) {}

  get state(): FeedState | undefined {
    return this.kept;
  }

  /** How long a frozen feed has been read without a newer item, in ms; undefined if the feed is not frozen. */
  get frozenForMs(): number | undefined {
    return this.kept && this.kept.quietMs > this.quietMs ? this.kept.quietMs : undefined;
  }

  /**
   * Records the result of a search while the feed is frozen. If an item of the result was published after the feed
   * froze, the upstream works, and the feed no longer counts as frozen.
   */
  see(items: readonly { publishedAt?: string | null | undefined }[], atMs: number): void {
    const { frozenForMs, kept } = this;
    if (!kept || frozenForMs === undefined) return;
    const since = atMs - frozenForMs;
    if (items.some(({ publishedAt }) => publishedAt && Date.parse(publishedAt) > since))
      this.kept = { ...kept, quietMs: 0 };
  }

  /** Records a read. `newestItemId`: the newest item of the read, if there is one. */
  read(newestItemId: string | undefined, atMs: number): void {
    const { kept } = this;
    if (!kept || (newestItemId !== undefined && newestItemId !== kept.newestItemId)) {
      this.kept = { newestItemId: newestItemId ?? '', quietMs: 0, readAt: atMs };
      return;
    }
    const stepMs = Math.min(Math.max(0, atMs - kept.readAt), this.quietMs * MAX_STEP);
    this.kept = { ...kept, quietMs: kept.quietMs + stepMs, readAt: atMs };
  }
}
