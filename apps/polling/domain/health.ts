import { blocksLane, isSuspicious } from './backoff.js';

/** What is known of an upstream's health. */
export interface HealthState {
  /** Outages in a row. */
  failures: number;
  /** Why it is not well, for people; empty while it is. */
  trouble: string;
  lastSuccessAt: Date | undefined;
}

/** A read that failed. */
interface Failure {
  kind: string;
  message: string;
}

/** So many searches have to fail, where one of them says little, before the source counts as unwell. */
const FAILING_SEARCHES = 3;
/** Kinds of failure that are about the search alone. */
const OF_ONE_SEARCH = new Set(['not_found', 'gone', 'blocked']);
/** Kinds that may be about the search alone. */
const OF_ONE_OR_ALL = new Set(['forbidden', 'unexpected_status', 'too_large']);

/** Follows how an upstream is, by the reads that go well and those that fail. */
export class Health {
  /** Searches that have failed, since one went well, in a way that may be about them only. */
  private readonly suspects = new Set<string>();

  constructor(
    /** `search`: each search has an upstream of its own. */
    private readonly backoff: 'lane' | 'search',
    private readonly current: HealthState,
  ) {}

  get state(): Readonly<HealthState> {
    return this.current;
  }

  /** @returns whether it was not well before */
  succeeded(at: Date): boolean {
    const recovered = this.current.failures > 0 || this.current.trouble !== '';
    this.suspects.clear();
    Object.assign(this.current, { failures: 0, trouble: '', lastSuccessAt: at });
    return recovered;
  }

  /** @returns true when it was an outage: the whole lane has to wait */
  failed(failure: Failure, searchKey: string): boolean {
    if (isSuspicious(failure.kind)) this.suspects.add(searchKey);
    const isOutage = blocksLane(failure.kind, this.backoff, this.suspects.size);
    if (isOutage) this.current.failures += 1;
    this.current.trouble = isOutage
      ? failure.message
      : (this.troubleOf(failure, searchKey) ?? this.current.trouble);
    return isOutage;
  }

  /** It answers, and something is wrong all the same. */
  unwell(trouble: string): void {
    this.current.trouble = trouble;
  }

  /**
   * What a failure says about the source as a whole. One search that is not there, or that was not understood, says
   * nothing; several in a row do. Where each has an upstream of its own nobody else is told whose failed.
   */
  private troubleOf({ kind, message }: Failure, searchKey: string): string | undefined {
    if (OF_ONE_SEARCH.has(kind)) return undefined;
    if (this.backoff === 'lane' && !OF_ONE_OR_ALL.has(kind)) return message;
    const several = this.suspects.add(searchKey).size >= FAILING_SEARCHES;
    if (!several) return undefined;
    return this.backoff === 'lane'
      ? message
      : `${this.suspects.size} searches in a row could not be read (${kind}); their activity says why`;
  }
}
