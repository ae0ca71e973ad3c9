import { Inject, Injectable } from '@nestjs/common';
import { runDurable, serveCommands, type Bus, type Durable, type RunningDurable } from '#messaging';
import { metrics, type Logger } from '#telemetry';
import { BUS, LOG, WORK, type WorkList } from './platform.js';

const LAG_INTERVAL_MS = 5000;

/** Starts a service's consumers, commands and loops, and stops them in the order that loses nothing. */
@Injectable()
export class ServiceRuntime {
  private running: RunningDurable[] = [];
  private commands?: { stop(): Promise<void> };
  private lagTimer?: NodeJS.Timeout;

  constructor(
    @Inject(WORK) private readonly work: WorkList,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  async start(): Promise<void> {
    this.running = await Promise.all(
      this.work.durables.map((durable) => runDurable(this.bus, durable, this.log)),
    );
    this.commands = serveCommands(this.bus, this.work.commands, this.log);
    for (const loop of this.work.loops) await loop.start();
    this.lagTimer = setInterval(() => void this.measureLag(), LAG_INTERVAL_MS).unref();
  }

  /** Commands first (nothing new is taken on), then loops and consumers, each finishing what it has begun. */
  async stop(): Promise<void> {
    clearInterval(this.lagTimer);
    await this.commands?.stop();
    await Promise.all([
      ...this.work.loops.map((loop) => loop.stop()),
      ...this.running.map((durable) => durable.stop()),
    ]);
    await this.work.afterStop?.();
  }

  private async measureLag(): Promise<void> {
    await Promise.all(this.work.durables.map((durable) => this.measure(durable))).catch((error: unknown) =>
      this.log.warn({ err: error }, 'consumer lag could not be read'),
    );
  }

  private async measure(durable: Durable): Promise<void> {
    const labels = { stream: durable.stream, consumer: durable.name };
    const info = await this.bus.jsm.consumers.info(durable.stream, durable.name);
    metrics.consumerPending.set(labels, info.num_pending);
    metrics.consumerAckPending.set(labels, info.num_ack_pending);
    const stream = await this.bus.jsm.streams.info(durable.stream);
    metrics.streamGaps.set({ stream: durable.stream }, stream.state.num_deleted ?? 0);
  }
}
