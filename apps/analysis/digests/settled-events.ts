import { Inject, Injectable } from '@nestjs/common';
import type { Bus } from '#messaging';
import { BUS } from '#platform';
import { consumerOf } from '#projections';
import { digestItemsProjection } from '../projections/digest-items.projection.js';

/** A digest waits this long for events that were stored before it was due. */
const WAIT_MS = 60_000;
const FORGET_MS = 600_000;

/** Knows up to which sequence of EVENTS every item is stored, so that a digest can be cut there. */
@Injectable()
export class SettledEvents {
  /** The last sequence of EVENTS when digests of a time were first asked for, by that time. */
  private readonly wanted = new Map<number, number>();

  constructor(@Inject(BUS) private readonly bus: Bus) {}

  /** The last sequence of EVENTS. */
  async lastSeq(): Promise<number> {
    return (await this.bus.jsm.streams.info('EVENTS')).state.last_seq;
  }

  /**
   * @returns a function that returns, for a digest that is due since a time (ms), the sequence at which it is cut;
   *   undefined while events from before that time are not stored as items, for at most a minute
   */
  async cuts(now: number): Promise<(dueAt: number) => number | undefined> {
    const lastSeq = await this.lastSeq();
    const { stream, name } = consumerOf(digestItemsProjection);
    const info = await this.bus.jsm.consumers.info(stream, name);
    // Behind the last message that was acknowledged, the floor does not move on over messages that are not the consumer's.
    const isIdle = info.num_pending + info.num_ack_pending === 0;
    const settled = isIdle
      ? Math.max(info.ack_floor.stream_seq, info.delivered.stream_seq)
      : info.ack_floor.stream_seq;
    for (const dueAt of this.wanted.keys()) if (dueAt < now - FORGET_MS) this.wanted.delete(dueAt);
    return (dueAt) => {
      const wanted = this.wanted.get(dueAt) ?? lastSeq;
      this.wanted.set(dueAt, wanted);
      return settled >= wanted || now >= dueAt + WAIT_MS ? settled : undefined;
    };
  }
}
