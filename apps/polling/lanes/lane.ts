import { setMaxListeners } from 'node:events';
import type { SourceId } from '#contracts';
import { systemClock, type Clock } from '#kernel';
import {
  createUpstreamHttp,
  UpstreamError,
  type SourceConnector,
  type SourceItem,
  type UpstreamBudget,
  type UpstreamHttp,
} from '#sources';
import type { OutboundHttp } from '#http-out';
import { metrics } from '#telemetry';
import { waitAfter } from '../domain/backoff.js';
import { FeedWatch } from '../domain/feed-watch.js';
import { Health } from '../domain/health.js';
import type { LaneMemory } from './lane-memory.js';
import { RequestBudget } from './request-budget.js';

/** The parts of a lane. */
export interface LaneParts {
  name: string;
  connector: SourceConnector;
  baseUrl: string | undefined;
  http: OutboundHttp;
  /** Number of lanes that share the source's budget. */
  lanes: number;
  memory: LaneMemory;
  session?: Map<string, unknown>;
  /** Stores what the lane has learned. */
  remember(memory: LaneMemory): Promise<void>;
  clock?: Clock;
}

/** Minimum time between two writes of the lane's memory, unless a change must be stored immediately. */
const REMEMBER_MS = 2_000;

/** A share of a source's upstream budget. Requests are sent only as the lane allows. */
export class Lane {
  readonly name: string;
  readonly source: SourceId;
  readonly connector: SourceConnector;
  /** Limits the lane's requests, and makes the lane wait. */
  readonly budget: RequestBudget;
  readonly http: UpstreamHttp;
  /**
   * Access tokens, and data about the servers that searches name. Kept in memory; all lanes of a source in one process
   * share this object.
   */
  readonly session: Map<string, unknown>;
  private readonly clock: Clock;
  private readonly feed: FeedWatch;
  private readonly health: Health;
  private rememberedAt = 0;
  private readonly abort = new AbortController();

  constructor(private readonly parts: LaneParts) {
    const { connector, memory } = parts;
    this.name = parts.name;
    this.connector = connector;
    this.source = connector.id;
    this.clock = parts.clock ?? systemClock;
    this.session = parts.session ?? new Map();
    const { failures, trouble, lastSuccessAt } = memory;
    this.health = new Health(connector.budget.backoff, { failures, trouble, lastSuccessAt });
    // Without a feed, nothing ends a stall that the lane remembers.
    const feed = connector.feed && memory.feed;
    this.feed = new FeedWatch((connector.feed?.quietSeconds ?? Infinity) * 1000, feed);
    // Any number of requests can wait for their turn.
    setMaxListeners(0, this.abort.signal);
    this.budget = new RequestBudget({
      source: connector.id,
      budget: connector.budget,
      lanes: parts.lanes,
      memory,
      clock: this.clock,
      stopped: this.abort.signal,
      changed: (now) => void this.remember(now).catch(() => {}),
    });
    this.http = this.httpWith(this.budget.limits());
    this.publish();
  }

  /**
   * Maximum number of searches that run at the same time. The number is 1 while the lane tests whether a failed
   * upstream works again.
   */
  get concurrency(): number {
    const share = Math.max(1, Math.floor(this.connector.budget.concurrency / this.parts.lanes));
    return this.isProbing ? 1 : share;
  }

  /** True while the lane tests whether a failed upstream works again. */
  get isProbing(): boolean {
    return this.health.state.failures > 0;
  }

  /** True while the feed responds but has shown no new item for longer than is normal for its source. */
  get isFrozen(): boolean {
    return this.feed.frozenForMs !== undefined;
  }

  /** True after `stop`. */
  get stopped(): boolean {
    return this.abort.signal.aborted;
  }

  /** Stops the lane: it sends no more requests, and cancels requests that wait for the budget. */
  stop(): void {
    this.abort.abort();
    this.publish();
  }

  /** Creates an HTTP client for the lane's upstream with these limits. Lookups have a client with other limits. */
  httpWith(budget: UpstreamBudget): UpstreamHttp {
    return createUpstreamHttp({
      source: this.source,
      http: this.parts.http,
      baseUrl: this.parts.baseUrl,
      settings: this.connector.requiredSettings.flat(),
      budget: () => budget,
    });
  }

  /** Records a successful read: the upstream works. But if its clock differs too much from ours, it is not healthy. */
  async succeeded(): Promise<void> {
    await this.remember(this.health.succeeded(this.clock.now(), this.budget.clockTrouble ?? ''));
  }

  /**
   * Converts a time of our clock to the clock that dates the reads. This is the upstream's clock if it is behind ours,
   * and otherwise our clock. See `SourceConnector.datesByOurClock`.
   */
  readTime(at: Date): Date {
    const aheadMs = this.connector.datesByOurClock ? 0 : Math.min(0, this.budget.clockAheadMs);
    return new Date(at.getTime() + aheadMs);
  }

  /** See `FeedWatch.shownUntil`. */
  shownUntil(atMs: number): number {
    return this.feed.shownUntil(atMs);
  }

  /**
   * Records the result of a read of the feed or of a search. A search counts only while the feed is frozen.
   * @param readAt the time of the read
   * @param feedSince the start of the period that was read, for a read of the feed; absent for a search
   * @returns the error with which the read fails while `isFrozen`
   */
  async follow(
    items: readonly SourceItem[],
    readAt: Date,
    feedSince?: Date,
  ): Promise<UpstreamError | undefined> {
    if (feedSince) this.feed.read(items[0], readAt.getTime(), feedSince.getTime());
    else this.feed.see(items, readAt.getTime());
    const { frozenForMs } = this.feed;
    if (frozenForMs === undefined) return undefined;
    const hours = Math.floor(frozenForMs / 360_000) / 10;
    const trouble = `${this.source} responds, but has shown nothing new for ${hours} h: its feed seems to be frozen; nothing is charged until a new item appears`;
    this.health.unwell(trouble);
    await this.remember(true);
    return new UpstreamError('frozen', trouble, 200);
  }

  /**
   * Records a failed read of a search. If the failure shows that the upstream does not work, the lane waits.
   * @returns the time of the lane's next request; undefined if the lane does not wait
   */
  async failed(error: UpstreamError, searchKey: string): Promise<Date | undefined> {
    if (error.reach === 'search') return undefined;
    const wasWell = this.health.state.trouble === '';
    if (!this.health.failed(error, searchKey)) {
      // A failure that changes the health is stored immediately. Otherwise a success that was stored a moment before
      // would delay this write.
      await this.remember(wasWell && this.health.state.trouble !== '');
      return undefined;
    }
    const { failures } = this.health.state;
    this.budget.block(waitAfter(error.kind, failures, error.retryAfterMs, Math.random()), error.message);
    await this.remember(true);
    return this.budget.blockedUntil;
  }

  private async remember(now: boolean): Promise<void> {
    this.publish();
    if (!now && this.nowMs - this.rememberedAt < REMEMBER_MS) return;
    this.rememberedAt = this.nowMs;
    await this.parts.remember({
      ...this.budget.state,
      ...this.health.state,
      feed: this.feed.state,
    });
  }

  private get nowMs(): number {
    return this.clock.now().getTime();
  }

  private publish(): void {
    const labels = { source: this.source, lane: this.name };
    if (this.abort.signal.aborted) {
      // Another replica reports the lane's metrics from now on. The last values of this process would contradict that
      // replica's values.
      metrics.laneBlockedUntil.remove(labels);
      metrics.sourceHealthy.remove(labels);
      return;
    }
    const { blockedForMs, blockedUntil } = this.budget;
    metrics.laneBlockedUntil.set(labels, blockedForMs > 0 ? blockedUntil.getTime() / 1000 : 0);
    metrics.sourceHealthy.set(labels, this.health.state.trouble === '' ? 1 : 0);
  }
}
