import { Inject, Injectable } from '@nestjs/common';
import type { Bus, ConsumerOptions } from '#messaging';
import { metrics, type Logger } from '#telemetry';
import { NatsStrategy, stopWithin } from '#transport';
import { BUS, LOG, WORK, type WorkList } from './platform.js';

const LAG_INTERVAL_MS = 5000;

/** Starts a service's loops, measures the lag of its consumers, and stops commands, consumers and loops. */
@Injectable()
export class ServiceRuntime {
  private lagTimer?: NodeJS.Timeout;

  constructor(
    private readonly strategy: NatsStrategy,
    @Inject(WORK) private readonly work: WorkList,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Starts the loops. Call this only after consumers and commands have started: then a loop can use the tables. */
  async start(): Promise<void> {
    for (const loop of this.work.loops) await loop.start();
    this.lagTimer = setInterval(() => void this.measureLag(), LAG_INTERVAL_MS).unref();
  }

  /**
   * Accepts nothing new. Commands, loops and consumers finish their running work at the same time, so that work that
   * hangs does not use up the time of other work. Then closes what they used.
   * @param graceMs how long that can take; unfinished messages are delivered again
   * @returns the names of work that was interrupted or could not be stopped
   */
  async stop(graceMs: number): Promise<string[]> {
    clearInterval(this.lagTimer);
    const deadline = Date.now() + graceMs;
    const cutOff = await Promise.all([
      this.strategy.stop(graceMs),
      stopWithin(graceMs, this.work.loops, this.log),
    ]);
    const connections = { name: 'connections', stop: async () => this.work.afterStop?.() };
    cutOff.push(await stopWithin(deadline - Date.now(), [connections], this.log));
    return cutOff.flat();
  }

  private async measureLag(): Promise<void> {
    await Promise.all(this.strategy.consumers.map((consumer) => this.measure(consumer))).catch(
      (error: unknown) => this.log.warn({ err: error }, 'consumer lag could not be read'),
    );
  }

  private async measure({ stream, name }: ConsumerOptions): Promise<void> {
    const labels = { stream, consumer: name };
    const info = await this.bus.jsm.consumers.info(stream, name);
    metrics.consumerPending.set(labels, info.num_pending);
    metrics.consumerAckPending.set(labels, info.num_ack_pending);
    metrics.consumerAckFloor.set(labels, info.ack_floor.stream_seq);
    const { state } = await this.bus.jsm.streams.info(stream);
    metrics.streamGaps.set({ stream }, state.num_deleted ?? 0);
  }
}
