import type { AttemptResult, Delivery } from './delivery.js';
import type { EndpointQueues } from './endpoint-queues.js';

/** The results of a batch so far. */
export interface BatchOutcome {
  results: AttemptResult[];
  /** Deliveries without an attempt. */
  refused: Delivery[];
  /** Running attempts, each with the promise of its result. */
  underWay: [Delivery, Promise<AttemptResult | undefined>][];
}

/** The first attempts of one batch of deliveries. */
export class BatchAttempts {
  /** Deliveries that so far have no result and were not refused. */
  readonly open: Set<Delivery>;
  /** Resolves when each delivery has a result or was refused, or when one attempt threw. */
  readonly settled: Promise<void>;
  private readonly results: AttemptResult[] = [];
  private readonly refused: Delivery[] = [];
  private readonly late = new Map<Delivery, (error: unknown, result?: AttemptResult) => void>();
  private failure: Error | undefined;
  private finish: () => void = () => undefined;

  constructor(deliveries: readonly Delivery[], queues: EndpointQueues) {
    this.open = new Set(deliveries);
    this.settled = new Promise((resolve) => (this.finish = resolve));
    if (deliveries.length === 0) this.finish();
    for (const delivery of deliveries)
      queues.submit(delivery, (error, result) => this.settle(delivery, error, result));
  }

  /**
   * Closes the batch: later results only resolve the promises of `underWay`.
   * @throws Error if an attempt threw
   */
  close(): BatchOutcome {
    if (this.failure) throw this.failure;
    const underWay = [...this.open].map((delivery): [Delivery, Promise<AttemptResult | undefined>] => [
      delivery,
      new Promise((resolve, reject) => {
        this.late.set(delivery, (error, result) =>
          error === undefined ? resolve(result) : reject(asError(error)),
        );
      }),
    ]);
    return { results: this.results, refused: this.refused, underWay };
  }

  private settle(delivery: Delivery, error: unknown, result: AttemptResult | undefined): void {
    this.open.delete(delivery);
    const late = this.late.get(delivery);
    if (late) return late(error, result);
    if (error !== undefined) this.failure = asError(error);
    else if (result) this.results.push(result);
    else this.refused.push(delivery);
    if (this.open.size === 0 || this.failure) this.finish();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
