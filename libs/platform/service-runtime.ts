import { Inject, Injectable } from '@nestjs/common';
import { runDurable, serveCommands, type Bus, type Durable, type RunningDurable } from '#messaging';
import { metrics, type Logger } from '#telemetry';
import { BUS, LOG, WORK, type WorkList } from './platform.js';
import { within } from '#kernel';

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

  /**
   * Nothing new is taken on; commands, loops and consumers each finish what they have begun, beside each other: one that
   * hangs leaves the others their time.
   * @param graceMs how long that may take; what is not done by then comes again at the next start
   * @returns the names of what was cut off
   */
  async stop(graceMs: number): Promise<string[]> {
    clearInterval(this.lagTimer);
    const deadline = Date.now() + graceMs;
    const cutOff: string[] = [];
    const finish = async (name: string, stopped: Promise<void> | undefined) => {
      const done = await within(deadline - Date.now(), stopped ?? Promise.resolve()).catch((error: unknown) =>
        this.log.error({ err: error }, `${name} could not be stopped`),
      );
      if (!done) cutOff.push(name);
    };
    await Promise.all([
      finish('commands', this.commands?.stop()),
      ...this.work.loops.map((loop) => finish(loop.name, loop.stop())),
      ...this.running.map((durable, index) =>
        finish(this.work.durables[index]?.name ?? 'consumer', durable.stop()),
      ),
    ]);
    await finish('connections', this.work.afterStop?.());
    return cutOff;
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
