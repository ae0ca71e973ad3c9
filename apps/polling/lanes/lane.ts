import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { SourceId } from '#contracts';
import { systemClock, TokenBucket, type Clock } from '#kernel';
import {
  createUpstreamHttp,
  UpstreamError,
  type SourceConnector,
  type SourceItem,
  type UpstreamBudget,
  type UpstreamHttp,
  type UpstreamRequest,
} from '#sources';
import { readRateHeaders, type OutboundHttp } from '#http-out';
import { metrics } from '#telemetry';
import { waitAfter } from '../domain/backoff.js';
import { ClockSkew } from '../domain/clock-skew.js';
import { FeedWatch } from '../domain/feed-watch.js';
import { Health } from '../domain/health.js';
import { Quotas } from '../domain/quotas.js';
import type { LaneMemory } from './lane-memory.js';

/** The lane sends no requests now. The search stays due, unchanged. */
export class LaneBlocked extends Error {
  override readonly name = 'LaneBlocked';
}

/** The pace of requests. */
export interface Pace {
  /**
   * Maximum time in ms that a request may wait for its turn, because a caller waits for the result. If its turn comes
   * later, the request is refused.
   */
  patienceMs?: number;
  /** A separate budget of requests, if the upstream counts them separately; absent: the lane's budget. */
  bucket?: TokenBucket | undefined;
}

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

/** If the upstream asks for a shorter wait, the request waits; after a longer one, the check fails. */
const PATIENCE_MS = 60_000;
/** Minimum time between two writes of what successful reads taught. */
const REMEMBER_MS = 2_000;
/** A share of a source's upstream budget. Requests are sent only as the lane allows. */
export class Lane {
  readonly name: string;
  readonly source: SourceId;
  readonly connector: SourceConnector;
  readonly http: UpstreamHttp;
  /**
   * In memory: access tokens, and data about servers that searches name. All lanes of a source in one process share it.
   */
  readonly session: Map<string, unknown>;
  private readonly bucket: TokenBucket;
  private readonly clock: Clock;
  private readonly quotas: Quotas;
  private readonly feed: FeedWatch;
  private readonly health: Health;
  private blockedUntilMs: number;
  private blockedReason: string;
  /** The upstream asked for a wait in a successful response. */
  private heldUntilMs = 0;
  private rememberedAt = 0;
  private readonly clockSkew = new ClockSkew();
  private readonly sentAt = new WeakMap<UpstreamRequest, number>();
  private readonly abort = new AbortController();

  constructor(private readonly parts: LaneParts) {
    const { connector, memory } = parts;
    this.name = parts.name;
    this.connector = connector;
    this.source = connector.id;
    this.clock = parts.clock ?? systemClock;
    this.session = parts.session ?? new Map();
    this.blockedUntilMs = memory.blockedUntil.getTime();
    this.blockedReason = memory.blockedReason;
    const { failures, trouble, lastSuccessAt } = memory;
    this.health = new Health(connector.budget.backoff, { failures, trouble, lastSuccessAt });
    this.quotas = new Quotas(connector.budget.quotas ?? {}, parts.lanes, memory.quotas);
    this.feed = new FeedWatch((connector.feed?.quietSeconds ?? Infinity) * 1000, memory.feed);
    const perMinute = this.requestsPerMinute;
    this.bucket = new TokenBucket(perMinute, Math.max(1, perMinute / 6), this.nowMs);
    // Any number of requests may wait for their turn.
    setMaxListeners(0, this.abort.signal);
    this.http = this.httpWith(this.budget());
    this.publish();
  }

  /**
   * Number of searches that may run at the same time: one while the lane tests whether an upstream that failed works
   * again.
   */
  get concurrency(): number {
    const share = Math.max(1, Math.floor(this.connector.budget.concurrency / this.parts.lanes));
    return this.isProbing ? 1 : share;
  }

  /** True while the lane tests whether an upstream that failed works again. */
  get isProbing(): boolean {
    return this.health.state.failures > 0;
  }

  /** This lane's share of the upstream's limit. */
  get requestsPerMinute(): number {
    return this.connector.budget.requestsPerMinute / this.parts.lanes;
  }

  /** How long the lane still waits, in ms; 0 if it does not wait. */
  get blockedForMs(): number {
    return Math.max(0, this.blockedUntilMs - this.nowMs);
  }

  /** True while the feed responds but has shown nothing new for longer than it is ever quiet. */
  get isFrozen(): boolean {
    return this.feed.frozenForMs !== undefined;
  }

  /** How long the wait that the upstream asked for still lasts, in ms. */
  get heldForMs(): number {
    return Math.max(0, this.heldUntilMs - this.nowMs);
  }

  /**
   * Minimum difference between the upstream's clock and ours by its responses, in ms; positive if its clock is ahead.
   */
  get clockAheadMs(): number {
    return this.clockSkew.aheadMs;
  }

  /** The error of every search on the lane while it waits. */
  get blockedBy(): UpstreamError {
    const reason = this.blockedReason || 'an earlier request failed';
    return new UpstreamError('rate_limited', `${this.source} gets no requests at the moment: ${reason}`);
  }

  /** The time of the lane's next request. */
  get blockedUntil(): Date {
    return new Date(this.blockedUntilMs);
  }

  /** True after `stop`. */
  get stopped(): boolean {
    return this.abort.signal.aborted;
  }

  /** Sends no more requests. Requests that wait for the budget are cancelled. */
  stop(): void {
    this.abort.abort();
    this.publish();
  }

  /** An HTTP client for the same upstream that also reports its requests to `budget`: for lookups. */
  httpWith(budget: UpstreamBudget): UpstreamHttp {
    return createUpstreamHttp({
      source: this.source,
      http: this.parts.http,
      baseUrl: this.parts.baseUrl,
      settings: this.connector.requiredSettings.flat(),
      budget: () => budget,
    });
  }

  /** Records a successful read: the upstream works. */
  async succeeded(): Promise<void> {
    await this.remember(this.health.succeeded(this.clock.now()));
  }

  /**
   * Records the result of the feed, or of a search while the feed is frozen.
   * @throws UpstreamError `frozen` if the feed responds but has shown nothing new for longer than it is ever quiet
   */
  async follow(items: readonly SourceItem[], isFeed: boolean): Promise<void> {
    if (isFeed) this.feed.read(items[0]?.itemId, this.nowMs);
    else this.feed.see(items, this.nowMs);
    const { frozenForMs } = this.feed;
    if (frozenForMs === undefined) return;
    const hours = Math.floor(frozenForMs / 360_000) / 10;
    const trouble = `${this.source} responds, but has shown nothing new for ${hours} h: it seems to be frozen; nothing is charged until something new appears`;
    this.health.unwell(trouble);
    await this.remember(true);
    throw new UpstreamError('frozen', trouble, 200);
  }

  /**
   * Records a failed read of a search. An outage makes the lane wait.
   * @returns the time of the lane's next request; undefined if the lane does not wait
   */
  async failed(error: UpstreamError, searchKey: string): Promise<Date | undefined> {
    if (error.reach === 'search') return undefined;
    const wasWell = this.health.state.trouble === '';
    if (!this.health.failed(error, searchKey)) {
      // The read itself can have succeeded and been stored a moment before.
      await this.remember(wasWell && this.health.state.trouble !== '');
      return undefined;
    }
    const { failures } = this.health.state;
    this.block(waitAfter(error.kind, failures, error.retryAfterMs, Math.random()), error.message);
    await this.remember(true);
    return this.blockedUntil;
  }

  /**
   * The limits of every request of the lane. A request with a separate pace has only the lane's stop and quotas in
   * common.
   */
  budget(pace: Pace = {}): UpstreamBudget {
    return {
      before: async (request) => {
        await this.admit(request, pace);
        this.sentAt.set(request, this.nowMs);
      },
      after: (answer, request) => this.noteAnswer(answer, request),
      holdOff: (wait) => this.holdOff(wait),
    };
  }

  /**
   * A wait that the upstream asks for applies whatever the connector does with the response. A wait of another server
   * does not concern the lane.
   */
  private noteAnswer({ status, headers }: Parameters<UpstreamBudget['after']>[0], request: UpstreamRequest) {
    const { foreign } = request;
    metrics.upstreamRequests.add(1, { source: this.source, status: status === 0 ? 'none' : String(status) });
    if (!foreign) this.clockSkew.read(headers, this.sentAt.get(request) ?? this.nowMs, this.nowMs);
    if (foreign || this.connector.budget.backoff !== 'lane') return;
    const { remaining, resetAfterMs, retryAfterMs } = readRateHeaders(headers, this.clock.now());
    const isFine = status >= 200 && status < 300;
    if (isFine && remaining !== undefined && remaining < 1 && resetAfterMs !== undefined)
      this.holdOff({ waitMs: resetAfterMs, reason: `the limit of ${this.source} is used up` });
    else if ((status === 429 || status >= 500) && retryAfterMs !== undefined)
      this.holdOff({ waitMs: retryAfterMs, reason: `${this.source} answered ${status} and asked to wait` });
  }

  /**
   * Admits a request when the budget allows it.
   * @throws LaneBlocked if the lane waits or stops, or has no budget in time; UpstreamError `quota_spent` if the daily
   * quota is used up
   */
  private async admit({ spends }: UpstreamRequest, { patienceMs = Infinity, bucket }: Pace): Promise<void> {
    const refuse = () => this.refuseBlocked(bucket !== undefined);
    const heldForMs = () => (bucket ? 0 : this.heldForMs);
    const paced = bucket ?? this.bucket;
    refuse();
    if (Math.max(paced.waitMs(this.nowMs), heldForMs()) > patienceMs) throw new LaneBlocked();
    if (spends)
      this.refuseSpent(spends.quota, this.quotas.fullUntil(spends.quota, spends.points, this.clock.now()));
    let waitMs = paced.take(this.nowMs);
    for (;;) {
      waitMs = Math.max(waitMs, heldForMs());
      if (waitMs <= 0) break;
      await wait(waitMs, undefined, { signal: this.abort.signal }).catch(() => {});
      refuse();
      waitMs = 0;
    }
    if (!spends) return;
    this.refuseSpent(spends.quota, this.quotas.take(spends.quota, spends.points, this.clock.now()));
    void this.remember(false).catch(() => {});
  }

  private refuseSpent(quota: string, until: Date | undefined): void {
    if (!until) return;
    const trouble = `${this.source}: its daily quota ("${quota}") is used up until ${until.toISOString()}; use fewer searches or longer intervals`;
    throw new UpstreamError('quota_spent', trouble, 0, until.getTime() - this.nowMs);
  }

  private refuseBlocked(isApart: boolean): void {
    if (this.stopped || (!isApart && this.blockedForMs > 0)) throw new LaneBlocked();
  }

  private holdOff({ waitMs, reason, quota }: Parameters<UpstreamHttp['holdOff']>[0]): void {
    if (quota) this.quotas.exhaust(quota, new Date(this.nowMs + waitMs));
    else if (waitMs <= PATIENCE_MS) this.heldUntilMs = Math.max(this.heldUntilMs, this.nowMs + waitMs);
    else this.block(waitMs, reason);
    void this.remember(true).catch(() => {});
  }

  private block(waitMs: number, reason: string): void {
    const until = this.nowMs + waitMs;
    if (until < this.blockedUntilMs) return;
    this.blockedUntilMs = until;
    this.blockedReason = reason;
  }

  private async remember(now: boolean): Promise<void> {
    this.publish();
    if (!now && this.nowMs - this.rememberedAt < REMEMBER_MS) return;
    this.rememberedAt = this.nowMs;
    await this.parts.remember({
      blockedUntil: this.blockedUntil,
      blockedReason: this.blockedReason,
      ...this.health.state,
      feed: this.feed.state,
      quotas: this.quotas.state,
    });
  }

  private get nowMs(): number {
    return this.clock.now().getTime();
  }

  private publish(): void {
    const labels = { source: this.source, lane: this.name };
    if (this.abort.signal.aborted) {
      // Another replica reports the lane's metrics from now on. Our last values would contradict them as long as this
      // process runs.
      metrics.laneBlockedUntil.remove(labels);
      metrics.sourceHealthy.remove(labels);
      return;
    }
    metrics.laneBlockedUntil.set(labels, this.blockedForMs > 0 ? this.blockedUntilMs / 1000 : 0);
    metrics.sourceHealthy.set(labels, this.health.state.trouble === '' ? 1 : 0);
  }
}
