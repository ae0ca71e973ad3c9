import type { AttemptCallback, AttemptResult, Delivery } from './delivery.js';

/**
 * A request that takes longer than this, in ms, marks its endpoint as slow. If a slow endpoint has no free place, its
 * deliveries are not attempted, instead of waiting for a place.
 */
const SLOW_MS = 250;
/**
 * How long a stop waits for running attempts, in ms. Attempts that the stop interrupts are repeated later.
 */
export const STOP_TIMEOUT_MS = 2000;
/** A request that has run for this time, in ms, is late. A batch no longer waits if all its open deliveries are late. */
const LATE_MS = 50;
const SWEEP_MS = 50;
/** An endpoint that hung and has had no request for this time, in ms, is forgotten, so that memory does not grow. */
const FORGET_MS = 15 * 60_000;
/**
 * Maximum number of concurrent requests to an endpoint at first, and again when all its requests have ended. Each
 * response doubles this number, up to the limit of an endpoint.
 */
const FIRST_ALLOWED = 4;

interface EndpointQueue {
  /** The start time of each running request, oldest first (a Map keeps the order). */
  underWay: Map<Delivery, number>;
  waiting: { delivery: Delivery; callback: AttemptCallback }[];
  /**
   * Maximum number of running requests. If the endpoint hangs, the number is 1: this request tests whether the endpoint
   * responds again.
   */
  allowed: number;
  /** When the last slow request ended without a response, in ms; undefined if the endpoint has responded since then. */
  hungAt: number | undefined;
}

/**
 * Limits the concurrent requests to each endpoint, so that an endpoint that hangs delays only its own deliveries. Also
 * limits the concurrent requests to all endpoints together: the endpoints take turns. A slow request does not count
 * towards this common limit. Two kinds of deliveries are not attempted, and their callbacks get no result: deliveries
 * whose endpoint is slow and has no free place, and deliveries that are cancelled before they start.
 */
export class EndpointQueues {
  private readonly queues = new Map<string, EndpointQueue>();
  /** Queues that could start a request if the common limit allowed it, in the order of their turns. */
  private readonly ready = new Set<EndpointQueue>();
  private readonly slow = new Set<Delivery>();
  /** Number of running requests that are not slow. */
  private quick = 0;
  private sweeper: NodeJS.Timeout | undefined;
  private isFilling = false;
  private readonly firstAllowed: number;

  /**
   * @param concurrency maximum number of concurrent requests to one endpoint
   * @param total maximum number of concurrent requests to all endpoints together, without slow requests
   */
  constructor(
    /** Must not throw. */
    private readonly send: (delivery: Delivery, callback: AttemptCallback) => void,
    private readonly concurrency: number,
    private readonly total = Infinity,
  ) {
    this.firstAllowed = Math.min(FIRST_ALLOWED, concurrency);
  }

  /**
   * Makes an attempt, like `submit`. Resolves with the attempt, or with undefined if none was made. Rejects if the
   * attempt threw.
   */
  attempt(delivery: Delivery): Promise<AttemptResult | undefined> {
    return new Promise((resolve, reject) =>
      this.submit(delivery, (error, result) => {
        if (error === undefined) resolve(result);
        else reject(error instanceof Error ? error : new Error(String(error)));
      }),
    );
  }

  /** Makes an attempt when the turn of the delivery comes. */
  submit(delivery: Delivery, callback: AttemptCallback): void {
    const queue = this.queueOf(delivery.endpoint);
    if (!hasPlace(queue) && isSlow(queue)) callback(undefined);
    else if (hasPlace(queue) && queue.waiting.length === 0 && this.quick < this.total)
      this.begin(delivery, queue, callback);
    else {
      queue.waiting.push({ delivery, callback });
      if (hasPlace(queue)) this.ready.add(queue);
    }
  }

  /** Returns the endpoints that have no free place for a request, or that have waiting requests. */
  full(): string[] {
    return [...this.queues].flatMap(([endpoint, queue]) =>
      hasPlace(queue) && queue.waiting.length === 0 ? [] : [endpoint],
    );
  }

  /** Returns the deliveries whose requests have run for at least this time, in ms. */
  runningFor(ms: number): Delivery[] {
    const until = Date.now() - ms;
    return [...this.slow].filter(
      (delivery) => (this.queues.get(delivery.endpoint)?.underWay.get(delivery) ?? Infinity) <= until,
    );
  }

  /** Returns true if at least one of the deliveries waits, or has a request that is not slow. */
  mayEndSoon(deliveries: Iterable<Delivery>): boolean {
    for (const delivery of deliveries) if (!this.slow.has(delivery)) return true;
    return false;
  }

  /**
   * Returns true if each delivery has a late request, or waits for the place of a late request to the same endpoint. A
   * request is late if it has run for at least `LATE_MS`.
   */
  areLate(deliveries: Iterable<Delivery>): boolean {
    const lateSince = Date.now() - LATE_MS;
    for (const delivery of deliveries) {
      const queue = this.queues.get(delivery.endpoint);
      if (!queue) return false;
      const startedAt = queue.underWay.get(delivery) ?? (hasPlace(queue) ? Infinity : oldest(queue));
      if (startedAt > lateSince) return false;
    }
    return true;
  }

  /** Cancels the deliveries that have not started: calls their callbacks without an attempt. */
  cancelWaiting(deliveries: ReadonlySet<Delivery>): void {
    for (const queue of this.queues.values()) {
      const taken = queue.waiting.filter(({ delivery }) => deliveries.has(delivery));
      if (taken.length === 0) continue;
      queue.waiting = queue.waiting.filter(({ delivery }) => !deliveries.has(delivery));
      for (const { callback } of taken) callback(undefined);
    }
  }

  private queueOf(endpoint: string): EndpointQueue {
    let queue = this.queues.get(endpoint);
    if (!queue) {
      queue = { underWay: new Map(), waiting: [], allowed: this.firstAllowed, hungAt: undefined };
      this.queues.set(endpoint, queue);
    }
    return queue;
  }

  private begin(delivery: Delivery, queue: EndpointQueue, callback: AttemptCallback): void {
    queue.underWay.set(delivery, Date.now());
    this.quick += 1;
    this.sweeper ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
    this.send(delivery, (error, result) => {
      this.learn(delivery, queue, result);
      callback(error, result);
      this.fill();
    });
  }

  /** Frees the place of a request that has ended, and adjusts the endpoint's limit to the result of the request. */
  private learn(delivery: Delivery, queue: EndpointQueue, result: AttemptResult | undefined): void {
    const wasSlow = this.slow.delete(delivery);
    if (result && result.statusCode > 0) {
      queue.allowed = Math.min(this.concurrency, queue.allowed * 2);
      queue.hungAt = undefined;
    } else if (result && wasSlow) {
      queue.allowed = 1;
      queue.hungAt = Date.now();
    }
    queue.underWay.delete(delivery);
    if (!wasSlow) this.quick -= 1;
    if (queue.waiting.length > 0 && hasPlace(queue)) this.ready.add(queue);
    // An endpoint without running requests gets few requests at first, because it possibly hangs at the next request.
    else if (queue.underWay.size === 0 && queue.hungAt === undefined) queue.allowed = this.firstAllowed;
  }

  /** Gives the free places to the queues in turn. */
  private fill(): void {
    // A request can end immediately, for example because its address is not allowed. It then frees its place while the
    // loop below runs, and the loop comes back to its queue. Nested calls of `fill` would make the call stack grow with
    // each of these requests.
    if (this.isFilling) return;
    this.isFilling = true;
    try {
      for (const queue of this.ready) {
        if (this.quick >= this.total) return;
        this.ready.delete(queue);
        if (!hasPlace(queue)) continue;
        const next = queue.waiting.shift();
        if (!next) continue;
        this.begin(next.delivery, queue, next.callback);
        // The queue goes to the end: the loop comes back to it after the others had their turn.
        if (queue.waiting.length > 0 && hasPlace(queue)) this.ready.add(queue);
      }
    } finally {
      this.isFilling = false;
    }
  }

  /** Finds requests that have become slow, cancels the deliveries that wait behind them, and removes idle queues. */
  private sweep(): void {
    const slowSince = Date.now() - SLOW_MS;
    let isBusy = false;
    for (const [endpoint, queue] of this.queues) {
      // The queue of an endpoint that hangs stays in memory for a time, with its limit; other queues are removed when they
      // are idle.
      const isForgotten = queue.hungAt === undefined || queue.hungAt < Date.now() - FORGET_MS;
      if (queue.underWay.size + queue.waiting.length === 0 && isForgotten) this.queues.delete(endpoint);
      for (const [delivery, startedAt] of queue.underWay) {
        isBusy = true;
        if (startedAt >= slowSince) break;
        if (this.slow.has(delivery)) continue;
        this.slow.add(delivery);
        this.quick -= 1;
      }
      if (hasPlace(queue) || !isSlow(queue)) continue;
      for (const { callback } of queue.waiting.splice(0)) callback(undefined);
    }
    this.fill();
    if (isBusy || this.ready.size > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }
}

function hasPlace({ underWay, allowed }: EndpointQueue): boolean {
  return underWay.size < allowed;
}

function isSlow(queue: EndpointQueue): boolean {
  return Date.now() - oldest(queue) > SLOW_MS;
}

/** Returns the start of the queue's oldest running request; Infinity if none is running. */
function oldest({ underWay }: EndpointQueue): number {
  return underWay.values().next().value ?? Infinity;
}
