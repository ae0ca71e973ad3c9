import { Inject, Injectable } from '@nestjs/common';
import type { Bus } from '#messaging';
import { BUS } from '#platform';
import { consumerOf, type Projection } from '#projections';
import { digestItemsProjection } from './projections/digest-items.projection.js';
import { searchCoverageProjection } from './projections/search-coverage.projection.js';

/** Maximum time that work waits for messages that were stored before it began. */
const WAIT_MS = 60_000;

/**
 * Finds the sequence up to which a projection has applied every message of its stream. With this sequence, work can wait
 * for messages that were stored before the work began.
 */
class ProjectionProgress {
  /**
   * For each piece of work that waits: the last sequence of the stream at its first request, and the time of that
   * request in ms.
   */
  private readonly waiting = new Map<string, { seq: number; since: number }>();

  constructor(
    private readonly bus: Bus,
    private readonly projection: Projection,
  ) {}

  /** Returns the last sequence of the stream. */
  async lastSeq(): Promise<number> {
    return (await this.bus.jsm.streams.info(this.projection.stream)).state.last_seq;
  }

  /**
   * @param now ms
   * @returns a function that returns the sequence up to which everything is applied. If messages that were stored
   *   before the first request for the piece of work are not applied yet, the function returns undefined, for at most a
   *   minute
   */
  async upTo(now: number): Promise<(work: string) => number | undefined> {
    const lastSeq = await this.lastSeq();
    const { stream, name } = consumerOf(this.projection);
    const info = await this.bus.jsm.consumers.info(stream, name);
    const { ack_floor, delivered, num_pending, num_ack_pending } = info;
    // If everything is acknowledged, the floor can be behind the last acknowledged message.
    const isIdle = num_pending + num_ack_pending === 0;
    const appliedSeq = isIdle ? Math.max(ack_floor.stream_seq, delivered.stream_seq) : ack_floor.stream_seq;
    // If the first request is two minutes old and no later request has ended the wait, another replica has probably
    // done the work.
    for (const [work, { since }] of this.waiting) if (now >= since + 2 * WAIT_MS) this.waiting.delete(work);
    return (work) => {
      const { seq, since } = this.waiting.get(work) ?? { seq: lastSeq, since: now };
      this.waiting.delete(work);
      if (appliedSeq >= seq || now >= since + WAIT_MS) return appliedSeq;
      this.waiting.set(work, { seq, since });
      return undefined;
    };
  }
}

/** The progress that digests wait for: the stored items of EVENTS. */
@Injectable()
export class EventsProgress extends ProjectionProgress {
  constructor(@Inject(BUS) bus: Bus) {
    super(bus, digestItemsProjection);
  }
}

/** The progress that alerts wait for: the checks whose covered times are stored. */
@Injectable()
export class ChecksProgress extends ProjectionProgress {
  constructor(@Inject(BUS) bus: Bus) {
    super(bus, searchCoverageProjection);
  }
}
