import { readRateHeaders, type UpstreamBudget, type UpstreamHttp, type UpstreamRequest } from '#sources';
import { systemClock, type Clock } from '#kernel';
import { LaneBlocked, type Lane } from '../lanes/lane.js';

/** Whoever asks waits for the answer: longer than this for each request is no answer. */
const TURN_MS = 10_000;

/**
 * The door of one kind of lookup. Its requests spend of the lane's budget and wait when the lane does. Upstreams
 * count such calls in windows of their own, so one that is used up holds back this kind alone, not the searches.
 */
export class LookupDoor {
  readonly http: UpstreamHttp;
  private heldUntilMs = 0;

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

  private budget(): UpstreamBudget {
    return {
      before: async (request: UpstreamRequest) => {
        if (this.heldForMs > 0) throw new LaneBlocked();
        await this.lane.admit(request, TURN_MS);
      },
      after: ({ status, headers }) => {
        this.lane.count(status);
        const { remaining, resetAfterMs, retryAfterMs } = readRateHeaders(headers, this.clock.now());
        if (status === 429) this.hold(retryAfterMs ?? resetAfterMs ?? 0);
        // A 403 may be about one user; only when it names a wait has it to do with how much is asked.
        else if (status === 403) this.hold(retryAfterMs ?? 0);
        else if (remaining !== undefined && remaining < 1) this.hold(resetAfterMs ?? 0);
      },
      holdOff: (wait) => {
        if (wait.quota) this.lane.http.holdOff(wait);
        else this.hold(wait.waitMs);
      },
    };
  }

  private hold(waitMs: number): void {
    this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now().getTime() + waitMs);
  }
}
