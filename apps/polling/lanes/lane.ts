import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { SourceId } from '#contracts';
import { systemClock, type Clock } from '#kernel';
import {
  createUpstreamHttp,
  readRateHeaders,
  UpstreamError,
  type SourceConnector,
  type SourceItem,
  type UpstreamBudget,
  type UpstreamHttp,
  type UpstreamRequest,
} from '#sources';
import type { OutboundHttp } from '#http-out';
import { metrics } from '#telemetry';
import { waitAfter } from '../domain/backoff.js';
import { ClockSkew } from '../domain/clock-skew.js';
import { FeedWatch } from '../domain/feed-watch.js';
import { Health } from '../domain/health.js';
import { Quotas } from '../domain/quotas.js';
import { TokenBucket } from '../domain/token-bucket.js';
import type { LaneMemory } from './lane-memory.js';

/** The lane asks its upstream nothing for now: the search goes back to the due work, unchanged. */
export class LaneBlocked extends Error {
  override readonly name = 'LaneBlocked';
}

/** How requests are let through. */
export interface Pace {
  /** Somebody waits for the answer: where its turn comes later than that (ms), a request is not let through. */
  patienceMs?: number;
  /** The budget of requests that the upstream counts apart from the lane's; absent: the lane's. */
  bucket?: TokenBucket | undefined;
}

/** What a lane is made of. */
export interface LaneParts {
  name: string;
  connector: SourceConnector;
  baseUrl: string | undefined;
  http: OutboundHttp;
  /** Lanes among which the source's budget is divided. */
  lanes: number;
  memory: LaneMemory;
  session?: Map<string, unknown>;
  /** Stores what the lane has learned. */
  remember(memory: LaneMemory): Promise<void>;
  clock?: Clock;
}

/** A shorter wait that the upstream asked for is sat out by the request; a longer one is told as a failed check. */
const PATIENCE_MS = 60_000;
/** What is learned from reads that go well is written down this seldom. */
const REMEMBER_MS = 2_000;
/** One part of a source's upstream budget: requests go out only as the lane allows. */
export class Lane {
  readonly name: string;
  readonly source: SourceId;
  readonly connector: SourceConnector;
  readonly http: UpstreamHttp;
  /** In-memory: access tokens, what is known of servers that searches name. The lanes of a source in one process share it. */
  readonly session: Map<string, unknown>;
  private readonly bucket: TokenBucket;
  private readonly clock: Clock;
  private readonly quotas: Quotas;
  private readonly feed: FeedWatch;
  private readonly health: Health;
  private blockedUntilMs: number;
  private blockedReason: string;
  /** The upstream asked for a moment of patience, in an answer that was fine. */
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
    this.http = this.door(this.budget());
    this.publish();
  }

  /** Searches that may be under way at once; one while the upstream has just failed and is being tried again. */
  get concurrency(): number {
    const share = Math.max(1, Math.floor(this.connector.budget.concurrency / this.parts.lanes));
    return this.isProbing ? 1 : share;
  }

  /** True while the upstream has just failed and is being tried again. */
  get isProbing(): boolean {
    return this.health.state.failures > 0;
  }

  /** This lane's part of what the upstream allows. */
  get requestsPerMinute(): number {
    return this.connector.budget.requestsPerMinute / this.parts.lanes;
  }

  /** How long the lane still waits, in ms; 0 when it is open. */
  get blockedForMs(): number {
    return Math.max(0, this.blockedUntilMs - this.nowMs);
  }

  /** True while the feed answers and shows nothing new for longer than it is ever quiet. */
  get isFrozen(): boolean {
    return this.feed.frozenForMs !== undefined;
  }

  /** How long the upstream's moment of patience still lasts, in ms. */
  get heldForMs(): number {
    return Math.max(0, this.heldUntilMs - this.nowMs);
  }

  /** How far the upstream's clock is ahead of ours at least (behind: below 0), by what its answers say; in ms. */
  get clockAheadMs(): number {
    return this.clockSkew.aheadMs;
  }

  /** What every search on the lane has to be told while it waits. */
  get blockedBy(): UpstreamError {
    const reason = this.blockedReason || 'it did not answer as it should';
    return new UpstreamError('rate_limited', `${this.source} is not asked for the moment: ${reason}`);
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
    this.publish();
  }

  /** A door onto the same upstream that tells `budget` of its requests as well: for lookups. */
  door(budget: UpstreamBudget): UpstreamHttp {
    return createUpstreamHttp({
      source: this.source,
      http: this.parts.http,
      baseUrl: this.parts.baseUrl,
      settings: this.connector.requiredSettings.flat(),
      budget: () => budget,
    });
  }

  /** A read went well: the upstream is fine. */
  async succeeded(): Promise<void> {
    await this.remember(this.health.succeeded(this.clock.now()));
  }

  /**
   * Notes what the feed gave, or a search while the feed is frozen.
   * @throws UpstreamError `frozen` when it answers, and has shown nothing new for longer than it is ever quiet
   */
  async follow(items: readonly SourceItem[], isFeed: boolean): Promise<void> {
    if (isFeed) this.feed.read(items[0]?.itemId, this.nowMs);
    else this.feed.see(items, this.nowMs);
    const { frozenForMs } = this.feed;
    if (frozenForMs === undefined) return;
    const hours = Math.floor(frozenForMs / 360_000) / 10;
    const trouble = `${this.source} answers, but has shown nothing new for ${hours} h: it must be frozen; nothing is charged until it moves again`;
    this.health.unwell(trouble);
    await this.remember(true);
    throw new UpstreamError('frozen', trouble, 200);
  }

  /**
   * The read of a search failed. An outage makes the lane wait.
   * @returns when the lane asks again, or undefined when it goes on
   */
  async failed(error: UpstreamError, searchKey: string): Promise<Date | undefined> {
    if (error.reach === 'search') return undefined;
    const wasWell = this.health.state.trouble === '';
    if (!this.health.failed(error, searchKey)) {
      // The read itself may have gone well, and have been written down, a moment before.
      await this.remember(wasWell && this.health.state.trouble !== '');
      return undefined;
    }
    const { failures } = this.health.state;
    this.block(waitAfter(error.kind, failures, error.retryAfterMs, Math.random()), error.message);
    await this.remember(true);
    return this.blockedUntil;
  }

  /** What every request of the lane is subject to; those with a pace of their own to no more than its stop and its quotas. */
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

  /** The upstream's patience holds whatever the connector makes of the answer; a stranger's is not the lane's. */
  private noteAnswer({ status, headers }: Parameters<UpstreamBudget['after']>[0], request: UpstreamRequest) {
    const { foreign } = request;
    metrics.upstreamRequests.add(1, { source: this.source, status: status === 0 ? 'none' : String(status) });
    if (!foreign) this.clockSkew.read(headers, this.sentAt.get(request) ?? this.nowMs, this.nowMs);
    if (foreign || this.connector.budget.backoff !== 'lane') return;
    const { remaining, resetAfterMs, retryAfterMs } = readRateHeaders(headers, this.clock.now());
    const isFine = status >= 200 && status < 300;
    if (isFine && remaining !== undefined && remaining < 1 && resetAfterMs !== undefined)
      this.holdOff({ waitMs: resetAfterMs, reason: `nothing is left of what ${this.source} allows` });
    else if ((status === 429 || status >= 500) && retryAfterMs !== undefined)
      this.holdOff({ waitMs: retryAfterMs, reason: `${this.source} answered ${status} and asked to wait` });
  }

  /**
   * Lets a request through when the budget has room for it.
   * @throws LaneBlocked when the lane waits or stops, or has no room in time; UpstreamError `quota_spent` when the day's
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
    const trouble = `${this.source}: what it allows a day ("${quota}") is used up until ${until.toISOString()}; fewer searches or longer intervals make it last`;
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
      // Another replica publishes the lane from now on: our last values would contradict it for as long as we live.
      metrics.laneBlockedUntil.remove(labels);
      metrics.sourceHealthy.remove(labels);
      return;
    }
    metrics.laneBlockedUntil.set(labels, this.blockedForMs > 0 ? this.blockedUntilMs / 1000 : 0);
    metrics.sourceHealthy.set(labels, this.health.state.trouble === '' ? 1 : 0);
  }
}
