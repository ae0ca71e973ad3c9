import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { newId, systemClock, TokenBucket, type Clock } from '#kernel';
import { metrics } from '#telemetry';
import { LlmError } from './llm-error.js';

/** The budget of a lane. */
export interface LaneBudget {
  /** Maximum number of requests at the same time. */
  concurrency: number;
  requestsPerMinute: number;
}

/** The state of the server after a request. */
export interface ServerState {
  /** Failures in a row. */
  failures: number;
  /** How long no request is sent, in ms. */
  blockedForMs: number;
}

/** Limits of the turns of all processes together. */
export interface TurnLimits {
  /** Maximum number of requests at the same time, after this number of failures in a row. */
  maxConcurrent: (failures: number) => number;
  requestsPerMinute: number;
  /** Maximum number of requests that are sent in quick succession after a time without requests. */
  burst: number;
}

/** The state of a lane that several processes share. */
export interface SharedTurns {
  /**
   * Begins a turn if the lane has room. Turns that have waited long begin first.
   * @param turn a new id
   * @param waitedMs how long the turn has waited until now
   * @returns whether the turn has begun; if not, the time in ms after which the caller should ask again. `isBlocked`:
   *   the server asked to wait, or is down; otherwise other requests use the budget
   */
  begin(
    turn: string,
    waitedMs: number,
    limits: TurnLimits,
  ): Promise<{ failures: number } & ({ hasBegun: true } | { waitMs: number; isBlocked: boolean })>;
  /** Returns the present number of failures in a row. */
  failures(): Promise<number>;
  /**
   * Ends a turn, and stores and returns the state of the server after the request.
   * @param nextState returns the state after the request, from the previous number of failures in a row;
   * undefined if the request does not show whether the server works
   */
  end(
    turn: string,
    nextState: ((failures: number) => ServerState) | undefined,
  ): Promise<ServerState | undefined>;
}

/** After this number of failures in a row, the server counts as down. */
const DOWN_AFTER = 5;
/**
 * The smallest limit of the wait for a turn. A request that would wait longer than the limit is refused; its caller can
 * ask again later.
 */
const MIN_WAIT_LIMIT_MS = 2_000;
/**
 * With a small budget, a request waits for up to this many other requests. An event can need three requests, and would
 * otherwise never get all of them.
 */
const WAIT_LIMIT_REQUESTS = 3;
/**
 * The first wait while a server is down. Each further wait is twice as long. If such a server asks for a shorter wait,
 * Earshot waits for this time.
 */
const FIRST_WAIT_MS = 5_000;
/** The longest of the doubled waits: half of the time that an event waits for the model. */
const MAX_WAIT_MS = 60_000;

/**
 * Limits the requests to the language model: how many are sent at the same time, and how many per minute. Sends no
 * request while the server has asked to wait. A server that is down is tested after each wait, with one request at a
 * time, until a request shows that the server works. With shared turns, all processes together share one budget.
 */
export class LlmLane {
  private readonly queue: PQueue;
  private readonly bucket: TokenBucket;
  private readonly closing = new AbortController();
  private blockedUntilMs = 0;
  /** Until this time, other processes use the shared budget. */
  private usedUntilMs = 0;
  private failures = 0;

  constructor(
    private readonly budget: LaneBudget,
    private readonly clock: Clock = systemClock,
    private readonly shared?: SharedTurns,
  ) {
    const { concurrency, requestsPerMinute } = budget;
    this.queue = new PQueue({ concurrency });
    this.bucket = new TokenBucket(requestsPerMinute, this.burst, this.nowMs);
    this.updateMetric();
  }

  /** Number of free places for requests; 0 while the next request would have to wait. */
  get room(): number {
    const now = this.nowMs;
    if (this.blockedForMs > 0 || now < this.usedUntilMs || this.bucket.waitMs(now) > 0) return 0;
    const busy = this.queue.pending + this.queue.size;
    return Math.max(0, this.concurrency - busy);
  }

  /** Number of requests at the same time: one while a server that is down is tested. */
  get concurrency(): number {
    return this.maxConcurrent(this.failures);
  }

  /** False while the server counts as down, until it is time to test the server. */
  get isAvailable(): boolean {
    return !this.isDown || this.blockedForMs === 0;
  }

  /** True after several failures in a row, until a request shows that the server works. */
  get isDown(): boolean {
    return this.failures >= DOWN_AFTER;
  }

  /** Returns `isDown`, after reading whether another process has had a success in the meantime. */
  async isStillDown(): Promise<boolean> {
    if (this.isDown && this.shared) this.failures = await this.shared.failures();
    return this.isDown;
  }

  /** How long no request is sent, in ms; 0 if requests are sent. */
  get blockedForMs(): number {
    return Math.max(0, this.blockedUntilMs - this.nowMs);
  }

  /**
   * Sends a request when its turn comes, and updates the state of the server from the result.
   * @param endsAt epoch ms
   * @throws LlmError `no_turn` if the turn would come too late or after `endsAt`, `network` if the lane is closed
   * @throws what `send` or `SharedTurns.begin` throws
   */
  async run<T>(endsAt: number, send: () => Promise<T>): Promise<T> {
    const result = await this.queue.add(async () => {
      const turn = await this.turn(endsAt);
      // Errors while the request waits for its turn say nothing about the server, so they are not counted.
      try {
        const answer = await send();
        await this.end(turn, WORKS);
        return { answer };
      } catch (error) {
        // Requests that were cancelled because the lane is closed say nothing about the server either.
        await this.end(turn, error instanceof LlmError && !this.isClosed ? stateAfter(error) : undefined);
        throw error;
      }
    });
    if (!result) throw new LlmError('no_turn', 'the request was not sent');
    return result.answer;
  }

  /** True after `close`. */
  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /** Waits, but at most until `close`. */
  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.closing.signal, ref: false }).catch(() => {});
  }

  /** Closes the lane: requests that wait for their turn fail. */
  close(): void {
    this.closing.abort();
  }

  /** Waits for a turn. @returns the id of the shared turn, if turns are shared */
  private async turn(endsAt: number): Promise<string | undefined> {
    const turn = newId();
    const waitingSince = this.nowMs;
    this.refuseLate(Math.max(this.bucket.waitMs(this.nowMs), this.blockedForMs), endsAt);
    for (let waitMs = this.bucket.take(this.nowMs); ;) {
      waitMs = Math.max(waitMs, this.blockedForMs);
      this.refuseLate(waitMs, endsAt);
      if (waitMs > 0) {
        await this.pause(waitMs);
        waitMs = 0;
        continue;
      }
      if (!this.shared) return undefined;
      const { maxConcurrent, burst } = this;
      const limits = { maxConcurrent, burst, requestsPerMinute: this.budget.requestsPerMinute };
      const begun = await this.shared.begin(turn, this.nowMs - waitingSince, limits);
      this.failures = begun.failures;
      if ('hasBegun' in begun) return turn;
      waitMs = begun.waitMs;
      if (begun.isBlocked) this.block(waitMs);
      else this.usedUntilMs = this.nowMs + waitMs;
    }
  }

  private refuseLate(waitMs: number, endsAt: number): void {
    if (this.isClosed) throw new LlmError('network', 'the service is stopping');
    const waitLimitMs = Math.max(
      MIN_WAIT_LIMIT_MS,
      (WAIT_LIMIT_REQUESTS * 60_000) / this.budget.requestsPerMinute,
    );
    if (waitMs > waitLimitMs || this.nowMs + waitMs >= endsAt)
      throw new LlmError('no_turn', 'the request would have to wait too long', waitMs);
  }

  private async end(turn: string | undefined, nextState: ((failures: number) => ServerState) | undefined) {
    // A shared turn that could not be ended expires.
    const shared = turn && (await this.shared?.end(turn, nextState).catch(() => undefined));
    const state = shared || nextState?.(this.failures);
    if (!state) return;
    this.failures = state.failures;
    this.block(state.blockedForMs);
  }

  private block(forMs: number): void {
    this.blockedUntilMs = Math.max(this.blockedUntilMs, this.nowMs + forMs);
    this.updateMetric();
  }

  private readonly maxConcurrent = (failures: number): number =>
    failures >= DOWN_AFTER ? 1 : this.budget.concurrency;

  private get burst(): number {
    return Math.max(1, this.budget.requestsPerMinute / 6);
  }

  private get nowMs(): number {
    return this.clock.now().getTime();
  }

  private updateMetric(): void {
    metrics.llmBlockedUntil.set({}, this.blockedForMs > 0 ? this.blockedUntilMs / 1000 : 0);
  }
}

const WORKS = (): ServerState => ({ failures: 0, blockedForMs: 0 });

/**
 * Returns how a failure changes the state of the server; undefined if the failure does not show whether the server
 * works.
 */
function stateAfter({
  kind,
  isTemporary,
  retryAfterMs,
}: LlmError): ((failures: number) => ServerState) | undefined {
  if (kind === 'deadline') return undefined;
  // A server that refuses a request works.
  if (!isTemporary) return WORKS;
  return (before) => {
    const failures = before + 1;
    if (failures < DOWN_AFTER) return { failures, blockedForMs: retryAfterMs ?? 0 };
    const doubled = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - DOWN_AFTER, 10));
    // Without this minimum, a server that is down and asks for a wait of 0 would be tested as often as the
    // budget allows.
    return { failures, blockedForMs: Math.max(FIRST_WAIT_MS, retryAfterMs ?? doubled) };
  };
}
