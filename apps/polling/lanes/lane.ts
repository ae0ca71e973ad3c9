import { setTimeout as wait } from 'node:timers/promises';
import type { SourceId } from '#contracts';
import { systemClock, type Clock } from '#kernel';
import {
  createUpstreamHttp,
  UpstreamError,
  type SourceConnector,
  type UpstreamBudget,
  type UpstreamHttp,
} from '#sources';
import type { OutboundHttp } from '#http-out';
import { metrics } from '#telemetry';
import { blocksLane, isSuspicious, waitAfter } from '../domain/backoff.js';
import { TokenBucket } from '../domain/token-bucket.js';

/** The lane asks its upstream nothing for now: the search goes back to the due work, unchanged. */
export class LaneBlocked extends Error {
  override readonly name = 'LaneBlocked';
}

/** What a lane is made of. */
export interface LaneParts {
  name: string;
  connector: SourceConnector;
  baseUrl: string | undefined;
  http: OutboundHttp;
  /** Lanes among which the source's budget is divided. */
  lanes: number;
  blockedUntil: Date;
  failures: number;
  /** Stores what the lane has learned. */
  remember(blockedUntil: Date, failures: number): Promise<void>;
  clock?: Clock;
}

/** One part of a source's upstream budget: requests go out only as the lane allows. */
export class Lane {
  readonly name: string;
  readonly source: SourceId;
  readonly connector: SourceConnector;
  readonly http: UpstreamHttp;
  /** In-memory and for the life of the lane: access tokens. */
  readonly session = new Map<string, unknown>();
  private readonly bucket: TokenBucket;
  private readonly clock: Clock;
  private blockedUntilMs: number;
  private failures: number;
  private reason: string;
  /** Searches that have failed, since one went well, in a way that may be about them only. */
  private readonly suspects = new Set<string>();
  private readonly abort = new AbortController();

  constructor(private readonly parts: LaneParts) {
    this.name = parts.name;
    this.connector = parts.connector;
    this.source = parts.connector.id;
    this.clock = parts.clock ?? systemClock;
    this.blockedUntilMs = parts.blockedUntil.getTime();
    this.failures = parts.failures;
    this.reason = `${this.source} did not answer as it should`;
    const perMinute = this.requestsPerMinute;
    this.bucket = new TokenBucket(perMinute, Math.max(1, perMinute / 6), this.clock.now().getTime());
    this.http = createUpstreamHttp({
      source: this.source,
      http: parts.http,
      baseUrl: parts.baseUrl,
      settings: parts.connector.requiredSettings.flat(),
      budget: () => this.budget(),
    });
    this.publish();
  }

  /** Searches that may be under way at once; one while the upstream has just failed and is being tried again. */
  get concurrency(): number {
    const share = Math.max(1, Math.floor(this.parts.connector.budget.concurrency / this.parts.lanes));
    return this.isProbing ? 1 : share;
  }

  /** True while the upstream has just failed and is being tried again. */
  get isProbing(): boolean {
    return this.failures > 0;
  }

  /** This lane's part of what the upstream allows. */
  get requestsPerMinute(): number {
    return this.parts.connector.budget.requestsPerMinute / this.parts.lanes;
  }

  /** How long the lane still waits, in ms; 0 when it is open. */
  get blockedForMs(): number {
    return Math.max(0, this.blockedUntilMs - this.clock.now().getTime());
  }

  /** What every search on the lane has to be told while it waits. */
  get blockedBy(): UpstreamError {
    return new UpstreamError('rate_limited', `${this.source} is not asked for the moment: ${this.reason}`);
  }

  /** When the lane asks again. */
  get blockedUntil(): Date {
    return new Date(this.blockedUntilMs);
  }

  /** True from `stop` on. */
  get stopped(): boolean {
    return this.abort.signal.aborted;
  }

  /** Sends nothing any more: what waits for the budget waits no longer, and is not asked. */
  stop(): void {
    this.abort.abort();
  }

  /** A read went well: the upstream is fine. */
  async succeeded(): Promise<void> {
    this.suspects.clear();
    if (this.failures === 0) return;
    this.failures = 0;
    await this.parts.remember(new Date(this.blockedUntilMs), 0);
    this.publish();
  }

  /**
   * The read of a search failed. An outage makes the lane wait.
   * @returns when the lane asks again, or undefined when it goes on
   */
  async failed(error: UpstreamError, searchKey: string): Promise<Date | undefined> {
    if (isSuspicious(error.kind)) this.suspects.add(searchKey);
    const { backoff } = this.parts.connector.budget;
    if (!blocksLane(error.kind, backoff, this.suspects.size)) return undefined;
    this.failures += 1;
    this.reason = error.message;
    const waitMs = waitAfter(error.kind, this.failures, error.retryAfterMs, Math.random());
    this.blockedUntilMs = Math.max(this.blockedUntilMs, this.clock.now().getTime() + waitMs);
    const until = new Date(this.blockedUntilMs);
    await this.parts.remember(until, this.failures);
    this.publish();
    return until;
  }

  private budget(): UpstreamBudget {
    return {
      before: async () => {
        if (this.stopped || this.blockedForMs > 0) throw new LaneBlocked();
        const waitMs = this.bucket.take(this.clock.now().getTime());
        if (waitMs > 0) await wait(waitMs, undefined, { signal: this.abort.signal }).catch(() => {});
        if (this.stopped || this.blockedForMs > 0) throw new LaneBlocked();
      },
      after: ({ status }) =>
        metrics.upstreamRequests.inc({ source: this.source, status: status === 0 ? 'none' : String(status) }),
    };
  }

  private publish(): void {
    const seconds = this.blockedForMs > 0 ? this.blockedUntilMs / 1000 : 0;
    metrics.laneBlockedUntil.set({ source: this.source, lane: this.name }, seconds);
  }
}
