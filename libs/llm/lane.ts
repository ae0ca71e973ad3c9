import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { systemClock, TokenBucket, type Clock } from '#kernel';
import { metrics } from '#telemetry';
import { LlmError } from './llm-error.js';

/** The budget of a lane. */
export interface LaneBudget {
  /** Maximum number of requests at the same time. */
  concurrency: number;
  requestsPerMinute: number;
}

/** After this number of failures in a row, the server counts as down. */
const DOWN_AFTER = 5;
/** A request that would wait longer for its turn is refused: its caller has better places to wait. */
const PATIENCE_MS = 2_000;
/** A small budget has the patience for this many requests: an event may need three, and would otherwise never get them. */
const PATIENT_REQUESTS = 3;
/** The first wait of a server that is down; it doubles. */
const FIRST_WAIT_MS = 5_000;
/** Longer than half the time that an event waits would be too long. */
const LONGEST_WAIT_MS = 60_000;

/**
 * The requests of this process to the language model: how many at the same time, how many per minute, and none while
 * the server asked to wait or is down. A server that is down gets one request at a time, until one succeeds.
 */
export class LlmLane {
  private readonly queue: PQueue;
  private readonly bucket: TokenBucket;
  private readonly closing = new AbortController();
  private blockedUntilMs = 0;
  private failures = 0;

  constructor(
    private readonly budget: LaneBudget,
    private readonly clock: Clock = systemClock,
  ) {
    const { concurrency, requestsPerMinute } = budget;
    this.queue = new PQueue({ concurrency });
    this.bucket = new TokenBucket(requestsPerMinute, Math.max(1, requestsPerMinute / 6), this.nowMs);
    this.publish();
  }

  /** Number of further requests that would be sent at once. */
  get room(): number {
    if (this.blockedForMs > 0 || this.bucket.waitMs(this.nowMs) > 0) return 0;
    const busy = this.queue.pending + this.queue.size;
    return Math.max(0, this.concurrency - busy);
  }

  /** Number of requests at the same time: one while a server that is down is tested. */
  get concurrency(): number {
    return this.isDown ? 1 : this.budget.concurrency;
  }

  /** True from several failures in a row until a success. */
  get isDown(): boolean {
    return this.failures >= DOWN_AFTER;
  }

  /** How long no request is sent, in ms; 0 if they are sent. */
  get blockedForMs(): number {
    return Math.max(0, this.blockedUntilMs - this.nowMs);
  }

  /**
   * Sends a request when it is its turn, and learns from its result.
   * @param endsAt epoch ms
   * @throws LlmError of `send`, or `no_turn` if its turn does not come soon, or not before `endsAt`
   */
  async run<T>(endsAt: number, send: () => Promise<T>): Promise<T> {
    const result = await this.queue.add(async () => {
      await this.turn(endsAt);
      // The turn says nothing about the server, so its errors are not counted.
      try {
        const answer = await send();
        this.succeeded();
        return { answer };
      } catch (error) {
        if (error instanceof LlmError) this.failed(error);
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

  /** Waits, but not longer than until `close`. */
  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.closing.signal, ref: false }).catch(() => {});
  }

  /** Requests that wait for their turn fail. */
  close(): void {
    this.closing.abort();
  }

  private async turn(endsAt: number): Promise<void> {
    this.refuseLate(Math.max(this.bucket.waitMs(this.nowMs), this.blockedForMs), endsAt);
    let waitMs = this.bucket.take(this.nowMs);
    for (;;) {
      waitMs = Math.max(waitMs, this.blockedForMs);
      this.refuseLate(waitMs, endsAt);
      if (waitMs <= 0) return;
      await this.pause(waitMs);
      waitMs = 0;
    }
  }

  private refuseLate(waitMs: number, endsAt: number): void {
    if (this.isClosed) throw new LlmError('network', 'the service is stopping');
    const patienceMs = Math.max(PATIENCE_MS, (PATIENT_REQUESTS * 60_000) / this.budget.requestsPerMinute);
    if (waitMs > patienceMs || this.nowMs + waitMs >= endsAt)
      throw new LlmError('no_turn', 'the request would have to wait too long', waitMs);
  }

  private succeeded(): void {
    this.failures = 0;
    this.publish();
  }

  private failed({ kind, isTemporary, retryAfterMs }: LlmError): void {
    // It says nothing about the server.
    if (kind === 'deadline') return;
    // The server works, and refuses this request.
    if (!isTemporary) return this.succeeded();
    this.failures += 1;
    const doubled = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.failures - DOWN_AFTER, 10));
    const waitMs = retryAfterMs ?? (this.isDown ? doubled : 0);
    this.blockedUntilMs = Math.max(this.blockedUntilMs, this.nowMs + waitMs);
    this.publish();
  }

  private get nowMs(): number {
    return this.clock.now().getTime();
  }

  private publish(): void {
    metrics.llmBlockedUntil.set({}, this.blockedForMs > 0 ? this.blockedUntilMs / 1000 : 0);
  }
}
