import { Inject, Injectable } from '@nestjs/common';
import type { Bus } from '#messaging';
import { BUS } from '#platform';
import { consumerOf, MENTIONS_SINK } from '#projections';
import { digestItemsProjection } from './projections/digest-items.projection.js';
import { searchCoverageProjection } from './projections/search-coverage.projection.js';

/** Maximum time that work waits for messages that were stored before it began. */
const WAIT_MS = 60_000;
/** The same for the mentions in ClickHouse, which can be hours late after an outage. */
const MENTIONS_WAIT_MS = 3_600_000;

/**
 * Finds the sequence up to which a consumer has processed every message of its stream. With this sequence, work can wait
 * for messages that were stored before the work began.
 */
class ConsumerProgress {
  /**
   * For each piece of work that waits: the last sequence of the stream at its first request, and the time of that
   * request in ms.
   */
  private readonly waiting = new Map<string, { seq: number; since: number }>();

  constructor(
    private readonly bus: Bus,
    private readonly stream: 'EVENTS' | 'CHECKS',
    private readonly consumer: string,
    private readonly waitMs = WAIT_MS,
  ) {}

  /** Returns the last sequence of the stream. */
  async lastSeq(): Promise<number> {
    return (await this.bus.jsm.streams.info(this.stream)).state.last_seq;
  }

  /**
   * @param now ms
   * @returns a function that returns the sequence up to which everything is applied. If messages that were stored
   *   before the first request for the piece of work are not applied yet, the function returns undefined, for at most
   *   `waitMs`
   */
  async upTo(now: number): Promise<(work: string) => number | undefined> {
    const lastSeq = await this.lastSeq();
    const info = await this.bus.jsm.consumers.info(this.stream, this.consumer);
    const { ack_floor, delivered, num_pending, num_ack_pending } = info;
    // If everything is acknowledged, the floor can be behind the last acknowledged message.
    const isIdle = num_pending + num_ack_pending === 0;
    const appliedSeq = isIdle ? Math.max(ack_floor.stream_seq, delivered.stream_seq) : ack_floor.stream_seq;
    // If the first request is that old and no later request has ended the wait, another replica has probably done the
    // work.
    for (const [work, { since }] of this.waiting)
      if (now >= since + 2 * this.waitMs) this.waiting.delete(work);
    return (work) => {
      const { seq, since } = this.waiting.get(work) ?? { seq: lastSeq, since: now };
      this.waiting.delete(work);
      if (appliedSeq >= seq || now >= since + this.waitMs) return appliedSeq;
      this.waiting.set(work, { seq, since });
      return undefined;
    };
  }
}

/** The progress that digests wait for: the stored items of EVENTS. */
@Injectable()
export class EventsProgress extends ConsumerProgress {
  /** The progress that weekly reports also wait for, because their figures are read from ClickHouse. */
  readonly mentions: ConsumerProgress;

  constructor(@Inject(BUS) bus: Bus) {
    super(bus, 'EVENTS', consumerOf(digestItemsProjection).name);
    this.mentions = new ConsumerProgress(bus, 'EVENTS', MENTIONS_SINK, MENTIONS_WAIT_MS);
  }
}

/** The progress that alerts wait for: the checks whose covered times are stored. */
@Injectable()
export class ChecksProgress extends ConsumerProgress {
  constructor(@Inject(BUS) bus: Bus) {
    super(bus, 'CHECKS', consumerOf(searchCoverageProjection).name);
  }
}
