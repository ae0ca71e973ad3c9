import type { AttemptResult, Delivery } from './delivery.js';
import type { EndpointQueues } from './endpoint-queues.js';

/** Deliveries of a batch that have ended. */
export interface EndedAttempts {
  results: AttemptResult[];
  /**
   * Deliveries for which no attempt was made. If the attempt of one threw, for example because its secret cannot be
   * decrypted, the retry loop repeats it and reports the error, and the batch continues.
   */
  refused: Delivery[];
}

/** The deliveries of a batch at one moment. */
export interface TakenAttempts extends EndedAttempts {
  /** Deliveries that have not ended. */
  open: Delivery[];
}

/** What is left of a batch when it is closed. */
export interface BatchOutcome extends EndedAttempts {
  /** Deliveries that have not ended, each with the promise of its result; undefined if no attempt is made. */
  underWay: [Delivery, Promise<AttemptResult | undefined>][];
}

/** The first attempts of one batch of deliveries. */
export class BatchAttempts {
  /** Deliveries that have no result yet and were not refused. A delivery that ends is removed from the set. */
  readonly open: Set<Delivery>;
  /** Resolves when each delivery has a result or was refused. */
  readonly settled: Promise<void>;
  /** In ms. */
  readonly startedAt = Date.now();
  private results: AttemptResult[] = [];
  private refused: Delivery[] = [];
  private readonly late = new Map<Delivery, (error: unknown, result?: AttemptResult) => void>();
  private finish: () => void = () => undefined;

  constructor(deliveries: readonly Delivery[], queues: EndpointQueues) {
    this.open = new Set(deliveries);
    this.settled = new Promise((resolve) => (this.finish = resolve));
    if (deliveries.length === 0) this.finish();
    for (const delivery of deliveries)
      queues.submit(delivery, (error, result) => this.settle(delivery, error, result));
  }

  /** Returns the deliveries that have ended since the last call, and all deliveries that have not ended. */
  take(): TakenAttempts {
    const { results, refused } = this;
    this.results = [];
    this.refused = [];
    return { results, refused, open: [...this.open] };
  }

  /** Closes the batch: later results only resolve the promises of `underWay`. */
  close(): BatchOutcome {
    const { open, ...ended } = this.take();
    const underWay = open.map((delivery): [Delivery, Promise<AttemptResult | undefined>] => [
      delivery,
      new Promise((resolve, reject) => {
        this.late.set(delivery, (error, result) =>
          error === undefined ? resolve(result) : reject(asError(error)),
        );
      }),
    ]);
    return { ...ended, underWay };
  }

  private settle(delivery: Delivery, error: unknown, result: AttemptResult | undefined): void {
    this.open.delete(delivery);
    const late = this.late.get(delivery);
    if (late) return late(error, result);
    if (result) this.results.push(result);
    else this.refused.push(delivery);
    if (this.open.size === 0) this.finish();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
