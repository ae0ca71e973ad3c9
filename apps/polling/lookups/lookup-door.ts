import { readRateHeaders, type UpstreamBudget, type UpstreamError, type UpstreamHttp } from '#sources';
import { systemClock, type Clock } from '#kernel';
import { waitAfter } from '../domain/backoff.js';
import { TokenBucket } from '../domain/token-bucket.js';
import { LaneBlocked, type Lane } from '../lanes/lane.js';

/** Whoever asks waits for the answer: longer than this for each request is no answer. */
const TURN_MS = 10_000;

/**
 * The door of one kind of lookup. Its requests spend of the lane's budget and wait when the lane does. Where the
 * upstream counts lookups in windows of their own, each kind has a pace of its own: neither holds back the other.
 */
export class LookupDoor {
  readonly http: UpstreamHttp;
  private heldUntilMs = 0;
  /** Lookups in a row that the upstream had too many of, without a word on how long to wait. */
  private failures = 0;

  constructor(
    private readonly lane: Lane,
    private readonly clock: Clock = systemClock,
  ) {
    this.http = lane.door(this.budget());
  }

  /** How long the upstream wants no more of these, in ms. */
  get heldForMs(): number {
    return Math.max(0, this.heldUntilMs - this.clock.now().getTime());
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** The upstream did not answer as it should. */
  failed({ kind, retryAfterMs }: UpstreamError): void {
    if (kind !== 'rate_limited' && retryAfterMs === undefined) return;
    this.failures += 1;
    this.hold(waitAfter(kind, this.failures, retryAfterMs, Math.random()));
  }

  private budget(): UpstreamBudget {
    const { lookupsApart: apart } = this.lane.connector;
    const bucket = apart && new TokenBucket(apart.requestsPerMinute, apart.burst, this.clock.now().getTime());
    const lane = this.lane.budget({ patienceMs: TURN_MS, bucket });
    return {
      before: async (request) => {
        if (this.heldForMs > 0) throw new LaneBlocked();
        await lane.before(request);
      },
      after: (answer, request) => {
        if (!this.lane.connector.lookupsApart) return lane.after(answer, request);
        lane.after({ status: answer.status, headers: {} }, request);
        const { remaining, resetAfterMs } = readRateHeaders(answer.headers, this.clock.now());
        if (remaining !== undefined && remaining < 1) this.hold(resetAfterMs ?? 0);
      },
      holdOff: (wait) => {
        if (wait.quota || !this.lane.connector.lookupsApart) lane.holdOff?.(wait);
        else this.hold(wait.waitMs);
      },
    };
  }

  private hold(waitMs: number): void {
    this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now().getTime() + waitMs);
  }
}
