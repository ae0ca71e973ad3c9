import { readRateHeaders } from '#http-out';
import { Running, systemClock, TokenBucket, type Clock } from '#kernel';
import type { UpstreamBudget, UpstreamError, UpstreamHttp } from '#sources';
import { waitAfter } from '../domain/backoff.js';
import type { Lane } from '../lanes/lane.js';
import { LaneBlocked } from '../lanes/request-budget.js';

/** A request whose turn comes later than this is refused, because a caller waits for the result. */
const TURN_MS = 10_000;
/**
 * Maximum number of requests of one account that wait for their turn at the same time. If there were more, the lookups of
 * other accounts would be refused, and the searches would get only a small part of the lane's requests.
 */
const MAX_WAITING_OF_ACCOUNT = 2;

/**
 * The HTTP client of one kind of lookup. Its requests use the lane's budget, and are refused while the lane is blocked.
 * If the upstream counts lookups separately, each kind of lookup has a separate bucket instead. Then the lane's blocks
 * do not apply to lookups, and one kind of lookup does not delay other kinds.
 */
export class LookupHttp {
  private readonly bucket: TokenBucket | undefined;
  /** The requests of each account that wait for their turn. */
  private readonly waiting = new Running();
  private heldUntilMs = 0;
  /** Number of lookups in a row that failed because the upstream accepted no more requests. */
  private failures = 0;

  constructor(
    private readonly lane: Lane,
    private readonly clock: Clock = systemClock,
  ) {
    const { lookupsApart: apart } = lane.connector;
    this.bucket = apart && new TokenBucket(apart.requestsPerMinute, apart.burst, clock.now().getTime());
  }

  /** Returns the client for the lookups of this account. */
  of(accountId: string): UpstreamHttp {
    return this.lane.httpWith(this.budget(accountId));
  }

  /** How long lookups of this kind will be refused, in ms, because the upstream accepts no more of them. */
  get heldForMs(): number {
    return Math.max(0, this.heldUntilMs - this.clock.now().getTime());
  }

  succeeded(): void {
    this.failures = 0;
  }

  /**
   * Records a failure. If the upstream limits the rate or asks for a wait, lookups of this kind are refused for a time.
   */
  failed({ kind, retryAfterMs }: UpstreamError): void {
    if (kind !== 'rate_limited' && retryAfterMs === undefined) return;
    this.failures += 1;
    this.hold(waitAfter(kind, this.failures, retryAfterMs, Math.random()));
  }

  private budget(accountId: string): UpstreamBudget {
    const { bucket } = this;
    const lane = this.lane.budget.limits({ maxWaitMs: TURN_MS, bucket });
    const withoutWait = this.lane.budget.limits({ maxWaitMs: 0, bucket });
    return {
      before: async (request) => {
        if (this.heldForMs > 0) throw new LaneBlocked();
        const mayWait = this.waiting.of(accountId) < MAX_WAITING_OF_ACCOUNT;
        const end = this.waiting.begin(accountId);
        try {
          await (mayWait ? lane : withoutWait).before(request);
        } finally {
          end();
        }
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
