import type { AttemptResult, Delivery } from './delivery.js';

/** A request that takes longer than this makes its endpoint a slow one: others do not wait behind it. */
const SLOW_MS = 250;

interface EndpointQueue {
  /** Start times of the requests under way, oldest first (a Map keeps their order). */
  underWay: Map<Delivery, number>;
  waiting: { delivery: Delivery; settle(result: Promise<AttemptResult> | undefined): void }[];
}

/**
 * Caps the requests under way to each endpoint, so that one that hangs holds up nobody but itself. A delivery
 * whose endpoint is slow, or that is called back before it began, is not attempted here: it goes to the retry lane.
 */
export class EndpointQueues {
  private readonly queues = new Map<string, EndpointQueue>();

  constructor(
    private readonly send: (delivery: Delivery) => Promise<AttemptResult>,
    private readonly concurrency: number,
  ) {}

  /** Settles with the attempt, or with undefined when none was made. */
  attempt(delivery: Delivery): Promise<AttemptResult | undefined> {
    const queue = this.queueOf(delivery.endpoint);
    if (queue.underWay.size < this.concurrency) return this.begin(delivery, queue);
    if (this.isSlow(queue)) return Promise.resolve(undefined);
    return new Promise((resolve) => queue.waiting.push({ delivery, settle: resolve }));
  }

  /** True when the endpoint could take one more request at this moment. */
  hasRoom(endpoint: string): boolean {
    const queue = this.queues.get(endpoint);
    return !queue || queue.underWay.size < this.concurrency;
  }

  /** Takes back what has not begun of the deliveries; they settle with undefined. */
  callBack(deliveries: ReadonlySet<Delivery>): void {
    for (const queue of this.queues.values()) {
      const taken = queue.waiting.filter(({ delivery }) => deliveries.has(delivery));
      if (taken.length === 0) continue;
      queue.waiting = queue.waiting.filter(({ delivery }) => !deliveries.has(delivery));
      for (const { settle } of taken) settle(undefined);
    }
  }

  private isSlow(queue: EndpointQueue): boolean {
    const oldest = queue.underWay.values().next().value;
    return oldest !== undefined && Date.now() - oldest > SLOW_MS;
  }

  private queueOf(endpoint: string): EndpointQueue {
    let queue = this.queues.get(endpoint);
    if (!queue) {
      queue = { underWay: new Map(), waiting: [] };
      this.queues.set(endpoint, queue);
    }
    return queue;
  }

  private async begin(delivery: Delivery, queue: EndpointQueue): Promise<AttemptResult> {
    queue.underWay.set(delivery, Date.now());
    try {
      return await this.send(delivery);
    } finally {
      queue.underWay.delete(delivery);
      const next = queue.waiting.shift();
      if (next) next.settle(this.begin(next.delivery, queue));
      else if (queue.underWay.size === 0) this.queues.delete(delivery.endpoint);
    }
  }
}
