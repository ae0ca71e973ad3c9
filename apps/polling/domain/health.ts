import { blocksLane, isSuspicious } from './backoff.js';

/** The health of an upstream. */
export interface HealthState {
  /** Number of outages in a row. */
  failures: number;
  /** Why the upstream is not healthy, as text for people; empty if it is healthy. */
  trouble: string;
  lastSuccessAt: Date | undefined;
}

/** A failed read. */
interface Failure {
  kind: string;
  message: string;
}

/** The source counts as unhealthy when this number of searches has failed in a way that can concern only one search. */
const FAILING_SEARCHES = 3;
/** Kinds of failure that concern only the search. */
const OF_ONE_SEARCH = new Set(['not_found', 'gone', 'blocked']);
/** Kinds of failure that can concern only the search, or the whole source. */
const OF_ONE_OR_ALL = new Set(['forbidden', 'unexpected_status', 'too_large']);

/** Follows the health of an upstream from successful and failed reads. */
export class Health {
  /** Searches that have failed since the last success with a kind for which `isSuspicious` is true. */
  private readonly suspects = new Set<string>();
  /** Searches that have failed since the last success in a way that can concern only the search. */
  private readonly failing = new Set<string>();

  constructor(
    /** `search`: each search has a separate upstream. */
    private readonly backoff: 'lane' | 'search',
    private readonly current: HealthState,
  ) {}

  get state(): Readonly<HealthState> {
    return this.current;
  }

  /**
   * Records a successful read.
   * @param trouble trouble of an upstream that responds; empty if there is none
   * @returns true if the health has changed
   */
  succeeded(at: Date, trouble: string): boolean {
    const hasChanged = this.current.failures > 0 || this.current.trouble !== trouble;
    this.suspects.clear();
    this.failing.clear();
    Object.assign(this.current, { failures: 0, trouble, lastSuccessAt: at });
    return hasChanged;
  }

  /** @returns true if the failure was an outage: the whole lane must wait */
  failed(failure: Failure, searchKey: string): boolean {
    if (isSuspicious(failure.kind)) this.suspects.add(searchKey);
    const isOutage = blocksLane(failure.kind, this.backoff, this.suspects.size);
    if (isOutage) this.current.failures += 1;
    this.current.trouble = isOutage
      ? failure.message
      : (this.troubleOf(failure, searchKey) ?? this.current.trouble);
    return isOutage;
  }

  /** Records trouble of an upstream that responds. */
  unwell(trouble: string): void {
    this.current.trouble = trouble;
  }

  /**
   * Returns the trouble of the whole source that follows from a failure. Undefined if the failure does not show trouble
   * of the source:
   * - A failure that concerns only one search never shows trouble of the source.
   * - A failure that can concern only one search shows trouble after several searches in a row have failed in this way.
   *   If each search has a separate upstream, all other failures are of this kind.
   * - Any other failure shows trouble immediately.
   * @returns a text that other accounts read, so it does not name the failed search if each search has a separate
   * upstream
   */
  private troubleOf({ kind, message }: Failure, searchKey: string): string | undefined {
    if (OF_ONE_SEARCH.has(kind)) return undefined;
    if (this.backoff === 'lane' && !OF_ONE_OR_ALL.has(kind)) return message;
    const several = this.failing.add(searchKey).size >= FAILING_SEARCHES;
    if (!several) return undefined;
    return this.backoff === 'lane'
      ? message
      : `${this.failing.size} searches in a row could not be read (the last one: ${kind}); the activity of their watches shows why`;
  }
}
