import { dropExpired, dropNeverCharged, nowOf, RESERVED_STREAMS, type ReservedStream } from '#credits';
import { Repeated } from '#kernel';
import type { Bus } from '#messaging';
import type { Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { chargingConsumerOf } from './charges.js';

const PAUSE_MS = 2000;
/**
 * Work can mark its reservation as done before it stores its fact. Then the work stores the fact within this time. Work
 * can also mark its reservation as done after it has stored the fact, at any time.
 */
const MAX_DONE_BEFORE_FACT_MS = 60_000;

/** The position of a stream at an instant. */
interface StreamPosition {
  at: Date;
  lastSeq: number;
}

/**
 * Removes reservations that no charge will settle: reservations that have expired, and reservations of finished work
 * whose fact was never stored, or was purged before the charge.
 */
export class ReservationsLoop implements Loop {
  readonly name = 'reservations';
  private readonly passes = new Repeated({
    pauseMs: PAUSE_MS,
    run: () => this.pass(),
    failed: (error) =>
      this.log.error({ err: error }, 'reservations that no charge will settle could not be removed'),
  });
  private readonly positions = new Map<ReservedStream, StreamPosition>();
  /** All facts that the stream contained at this instant are charged. */
  private readonly chargedAt = new Map<ReservedStream, Date>();

  constructor(
    private readonly database: Database,
    private readonly bus: Bus,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.passes.start();
  }

  stop(): Promise<void> {
    return this.passes.stop();
  }

  /** Runs one pass. The next pass checks whether everything that the streams contain now has been charged. */
  async pass(): Promise<void> {
    await dropExpired(this.database);
    // Each stream is processed separately. If a fact cannot be charged, or a stream cannot be read, the reservations of
    // the other streams are still removed.
    const passes = await Promise.allSettled(RESERVED_STREAMS.map((stream) => this.passStream(stream)));
    const instants = RESERVED_STREAMS.map((stream) => this.chargedAt.get(stream)?.getTime() ?? 0);
    await this.drop('unknown', new Date(Math.min(...instants)));
    for (const one of passes) if (one.status === 'rejected') throw one.reason;
  }

  private async passStream(stream: ReservedStream): Promise<void> {
    const position = this.positions.get(stream);
    if (position) {
      if (!(await this.hasCharged(stream, position.lastSeq))) return;
      this.chargedAt.set(stream, position.at);
      await this.drop(stream, position.at);
    }
    const at = await nowOf(this.database);
    const { state } = await this.bus.jsm.streams.info(stream);
    this.positions.set(stream, { at, lastSeq: state.last_seq });
  }

  private drop(stream: ReservedStream | 'unknown', chargedAt: Date): Promise<void> {
    return dropNeverCharged(this.database, stream, new Date(chargedAt.getTime() - MAX_DONE_BEFORE_FACT_MS));
  }

  /**
   * Returns whether all facts up to the position are charged. Purged messages are never acknowledged, so all facts also
   * count as charged if no message is pending.
   */
  private async hasCharged(stream: ReservedStream, seq: number): Promise<boolean> {
    const info = await this.bus.jsm.consumers.info(stream, chargingConsumerOf(stream));
    return info.ack_floor.stream_seq >= seq || info.num_pending + info.num_ack_pending === 0;
  }
}
