/** How far a source's feed of newest items has been read. Kept over restarts. */
export interface FeedState {
  newestItemId: string;
  /**
   * Publication of the newest item, but not later than its first read; before the first item, the start of the first
   * read. Absent if the item has no date.
   */
  newestAt?: number | undefined;
  /** How long the feed has been read without a newer item, in ms. */
  quietMs: number;
  /** Time of the last read, in ms since the epoch. */
  readAt: number;
  /** Earlier stalls of the feed, oldest first. Absent in the state of an older version. */
  stalls?: Stall[];
}

/** Reads before `until` have shown only what was published up to `from`. Both in ms since the epoch. */
interface Stall {
  from: number;
  until: number;
}

/** The first item of a read of the feed. */
interface NewestItem {
  itemId: string;
  publishedAt?: string | null | undefined;
}

/**
 * The period of each read begins this time before the end of the previous period, because sources show items with a
 * delay: an item that was published shortly before a read can appear shortly after the read.
 */
export const OVERLAP_MS = 5 * 60_000;
/**
 * Reads that are far apart prove little about the time between them: one read counts for at most this part of the
 * longest time without a new item that is normal for the source.
 */
const MAX_STEP = 0.1;
/**
 * Stalls that begin within this time count as one. Otherwise a feed that always shows items late would have a new stall
 * at each read. A search that was last read in such a stall is read at most this time further back than necessary.
 */
const JOINED_MS = OVERLAP_MS;
/** Only the newest stalls are kept. A search that was last read in an earlier stall can miss items. */
const MAX_STALLS = 50;

/**
 * Follows the newest item of a feed, in two ways, because a feed that responds can still hide new items:
 * - A feed counts as frozen if it has shown no new item for longer than is normal for its source. Without this state,
 *   users would believe that there are no mentions.
 * - A feed can also stall for a shorter time, or show items late. Later reads must find what the feed has hidden. So
 *   this class stores what the reads at each time have really shown.
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
   * Returns the time up to which a read at `atMs` has shown everything: earlier than `atMs` if the feed stalled at that
   * time. It applies to reads of the feed and to searches, because both show the same data of the upstream.
   */
  shownUntil(atMs: number): number {
    let shown = atMs;
    for (const { from, until } of [...(this.kept?.stalls ?? []), ...this.currentStall()])
      if (from < shown && atMs < until) shown = from;
    return shown;
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

  /**
   * Records a read.
   * @param newest the newest item of the read, if there is one
   * @param sinceMs the start of the period that was read
   */
  read(newest: NewestItem | undefined, atMs: number, sinceMs: number): void {
    const { kept } = this;
    const newestAt = newest ? publicationOf(newest, atMs) : sinceMs;
    if (!kept || (newest && newest.itemId !== kept.newestItemId)) {
      const stalls = this.stallsUntil(atMs);
      this.kept = { newestItemId: newest?.itemId ?? '', newestAt, quietMs: 0, readAt: atMs, stalls };
      return;
    }
    const stepMs = Math.min(Math.max(0, atMs - kept.readAt), this.maxStepMs);
    this.kept = {
      ...kept,
      newestAt: kept.newestAt ?? newestAt,
      quietMs: kept.quietMs + stepMs,
      readAt: atMs,
    };
  }

  /**
   * Returns the stall that has not ended, if there is one. The feed does not count as stalled while the overlap of the
   * reads covers what the feed has not shown yet.
   */
  private currentStall(): Stall[] {
    const { kept } = this;
    if (kept?.newestAt === undefined || kept.readAt - kept.newestAt <= OVERLAP_MS) return [];
    // Searches are read shortly after the feed, so the stall lasts a little longer than its last known read.
    const until = this.frozenForMs === undefined ? kept.readAt + this.maxStepMs : Infinity;
    return [{ from: kept.newestAt, until }];
  }

  /** Returns all stalls after a read that has ended the current one. */
  private stallsUntil(atMs: number): Stall[] {
    // After our clock was set back, the stalls would otherwise apply until the time at which it was set back.
    const latest = atMs + this.maxStepMs;
    const stalls = (this.kept?.stalls ?? []).map(({ from, until }) => ({
      from,
      until: Math.min(until, latest),
    }));
    for (const { from, until } of this.currentStall()) {
      const last = stalls.at(-1);
      const ended = { from, until: Math.min(until, atMs) };
      if (last && from >= last.from && from - last.from < JOINED_MS)
        last.until = Math.max(last.until, ended.until);
      else stalls.push(ended);
    }
    return stalls.slice(-MAX_STALLS);
  }

  private get maxStepMs(): number {
    return this.quietMs * MAX_STEP;
  }
}

function publicationOf({ publishedAt }: NewestItem, atMs: number): number | undefined {
  return publishedAt ? Math.min(Date.parse(publishedAt), atMs) : undefined;
}
