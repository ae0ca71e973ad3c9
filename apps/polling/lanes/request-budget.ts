import { setTimeout as wait } from 'node:timers/promises';
import type { SourceId } from '#contracts';
import { readRateHeaders } from '#http-out';
import { TokenBucket, type Clock } from '#kernel';
import {
  UpstreamError,
  type SourceConnector,
  type UpstreamBudget,
  type UpstreamHttp,
  type UpstreamRequest,
} from '#sources';
import { metrics } from '#telemetry';
import { ClockSkew } from '../domain/clock-skew.js';
import { Quotas } from '../domain/quotas.js';
import type { LaneMemory } from './lane-memory.js';

/** The lane does not send the request. If the request belongs to a check, the search stays due and does not change. */
export class LaneBlocked extends Error {
  override readonly name = 'LaneBlocked';
}

/** How long a request can wait, and which limit of requests per minute applies to the request. */
export interface Pace {
  /**
   * Maximum expected wait of a request for its turn, in ms. Set if a caller waits for the result. A request whose turn
   * is expected later is refused.
   */
  maxWaitMs?: number;
  /** A separate budget of requests, if the upstream counts them separately; absent: the lane's budget. */
  bucket?: TokenBucket | undefined;
}

/** The part of a lane's memory that concerns its requests. */
type BudgetState = Pick<LaneMemory, 'blockedUntil' | 'blockedReason' | 'quotas'>;

/** The parts of a lane's budget. */
interface BudgetParts {
  source: SourceId;
  /** The source's budget, of which the lane has its share. */
  budget: SourceConnector['budget'];
  /** Number of lanes that share the source's budget. */
  lanes: number;
  memory: BudgetState;
  clock: Clock;
  /** Aborted when the lane stops: requests that wait for their turn are cancelled. */
  stopped: AbortSignal;
  /** Called when `state` has changed. `now`: whether the state must be stored immediately. */
  changed(now: boolean): void;
}

/** If the upstream asks for a wait of at most this length, requests wait. If it asks for a longer wait, checks fail. */
const MAX_SHORT_WAIT_MS = 60_000;

/**
 * Limits the requests of a lane: applies the limit of requests per minute, the daily quotas, and the waits that the
 * upstream asks for.
 */
export class RequestBudget {
  private readonly bucket: TokenBucket;
  private readonly quotas: Quotas;
  private readonly clockSkew = new ClockSkew();
  private readonly sentAt = new WeakMap<UpstreamRequest, number>();
  private blockedUntilMs: number;
  private blockedReason: string;
  /** The end of a wait of at most `MAX_SHORT_WAIT_MS` that the upstream asked for. */
  private heldUntilMs = 0;

  constructor(private readonly parts: BudgetParts) {
    const { budget, lanes, memory } = parts;
    this.blockedUntilMs = memory.blockedUntil.getTime();
    this.blockedReason = memory.blockedReason;
    this.quotas = new Quotas(budget.quotas ?? {}, lanes, memory.quotas);
    const perMinute = this.requestsPerMinute;
    this.bucket = new TokenBucket(perMinute, Math.max(1, perMinute / 6), this.nowMs);
  }

  /** The lane's share of the upstream's limit. */
  get requestsPerMinute(): number {
    return this.parts.budget.requestsPerMinute / this.parts.lanes;
  }

  /**
   * The remaining time of the lane's block, in ms; 0 if the lane is not blocked. Short waits (`heldForMs`) are not
   * included.
   */
  get blockedForMs(): number {
    return Math.max(0, this.blockedUntilMs - this.nowMs);
  }

  /** The end of the lane's current or last block. */
  get blockedUntil(): Date {
    return new Date(this.blockedUntilMs);
  }

  /** The error with which each due check fails while the lane is blocked. */
  get blockedBy(): UpstreamError {
    const reason = this.blockedReason || 'an earlier request failed';
    return new UpstreamError(
      'rate_limited',
      `${this.parts.source} gets no requests at the moment: ${reason}`,
    );
  }

  /** The remaining time of the current short wait (at most `MAX_SHORT_WAIT_MS`), in ms; 0 if there is none. */
  get heldForMs(): number {
    return Math.max(0, this.heldUntilMs - this.nowMs);
  }

  /**
   * The smallest difference between the upstream's clock and ours that explains the `Date` of its last response, in ms:
   * positive if its clock is ahead of ours, negative if it is behind; 0 if the difference is too large to be used.
   */
  get clockAheadMs(): number {
    return this.clockSkew.aheadMs;
  }

  /** A text for people if the upstream's clock and ours differ too much. */
  get clockTrouble(): string | undefined {
    return this.clockSkew.troubleWith(this.parts.source);
  }

  /** The state to keep over restarts. */
  get state(): BudgetState {
    const { blockedUntil, blockedReason, quotas } = this;
    return { blockedUntil, blockedReason, quotas: quotas.state };
  }

  /**
   * Returns the limits for the lane's requests of this kind. Requests with a separate bucket ignore the lane's waits,
   * but use the lane's quotas and are cancelled when the lane stops.
   */
  limits(pace: Pace = {}): UpstreamBudget {
    return {
      before: async (request) => {
        await this.admit(request, pace);
        this.sentAt.set(request, this.nowMs);
      },
      after: (answer, request) => this.noteAnswer(answer, request),
      holdOff: (wait) => this.holdOff(wait),
    };
  }

  /** Blocks the lane for this time, unless it is already blocked for longer. `reason` is a text for people. */
  block(waitMs: number, reason: string): void {
    const until = this.nowMs + waitMs;
    if (until < this.blockedUntilMs) return;
    this.blockedUntilMs = until;
    this.blockedReason = reason;
  }

  /**
   * Applies the wait that a response asks for, even if the connector ignores this wait, but only for sources with the
   * backoff `lane`. A wait that a server other than the upstream asks for does not concern the lane.
   */
  private noteAnswer({ status, headers }: Parameters<UpstreamBudget['after']>[0], request: UpstreamRequest) {
    const { foreign } = request;
    const { source, budget, clock } = this.parts;
    metrics.upstreamRequests.add(1, { source, status: status === 0 ? 'none' : String(status) });
    if (!foreign) this.clockSkew.read(headers, this.sentAt.get(request) ?? this.nowMs, this.nowMs);
    if (foreign || budget.backoff !== 'lane') return;
    const { remaining, resetAfterMs, retryAfterMs } = readRateHeaders(headers, clock.now());
    const isFine = status >= 200 && status < 300;
    if (isFine && remaining !== undefined && remaining < 1 && resetAfterMs !== undefined)
      this.holdOff({ waitMs: resetAfterMs, reason: `the limit of ${source} is used up` });
    else if ((status === 429 || status >= 500) && retryAfterMs !== undefined)
      this.holdOff({ waitMs: retryAfterMs, reason: `${source} answered ${status} and asked to wait` });
  }

  /**
   * Resolves when the budget allows the request.
   * @throws LaneBlocked if the lane is blocked (and the request has no separate bucket) or stops, or if the expected
   *   wait is longer than `maxWaitMs`; UpstreamError `quota_spent` if the daily quota is used up
   */
  private async admit({ spends }: UpstreamRequest, { maxWaitMs = Infinity, bucket }: Pace): Promise<void> {
    const refuse = () => this.refuseBlocked(bucket !== undefined);
    const heldForMs = () => (bucket ? 0 : this.heldForMs);
    const paced = bucket ?? this.bucket;
    refuse();
    if (Math.max(paced.waitMs(this.nowMs), heldForMs()) > maxWaitMs) throw new LaneBlocked();
    if (spends)
      this.refuseSpent(
        spends.quota,
        this.quotas.fullUntil(spends.quota, spends.points, this.parts.clock.now()),
      );
    let waitMs = paced.take(this.nowMs);
    for (;;) {
      waitMs = Math.max(waitMs, heldForMs());
      if (waitMs <= 0) break;
      await wait(waitMs, undefined, { signal: this.parts.stopped }).catch(() => {});
      refuse();
      waitMs = 0;
    }
    if (!spends) return;
    this.refuseSpent(spends.quota, this.quotas.take(spends.quota, spends.points, this.parts.clock.now()));
    this.parts.changed(false);
  }

  private refuseSpent(quota: string, until: Date | undefined): void {
    if (!until) return;
    const trouble = `${this.parts.source}: its daily quota ("${quota}") is used up until ${until.toISOString()}; use fewer searches or longer intervals`;
    throw new UpstreamError('quota_spent', trouble, 0, until.getTime() - this.nowMs);
  }

  private refuseBlocked(isApart: boolean): void {
    if (this.parts.stopped.aborted || (!isApart && this.blockedForMs > 0)) throw new LaneBlocked();
  }

  private holdOff({ waitMs, reason, quota }: Parameters<UpstreamHttp['holdOff']>[0]): void {
    if (quota) this.quotas.exhaust(quota, new Date(this.nowMs + waitMs));
    else if (waitMs <= MAX_SHORT_WAIT_MS) this.heldUntilMs = Math.max(this.heldUntilMs, this.nowMs + waitMs);
    else this.block(waitMs, reason);
    this.parts.changed(true);
  }

  private get nowMs(): number {
    return this.parts.clock.now().getTime();
  }
}
