import { dropExpired, dropNeverCharged, nowOf } from '#credits';
import { Repeated } from '#kernel';
import type { Bus } from '#messaging';
import type { Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { chargingConsumerOf, type ChargedStream } from './charges.js';

const PAUSE_MS = 2000;
/** The streams of the facts for which credits are reserved. */
const STREAMS: readonly ChargedStream[] = ['CHECKS', 'LOOKUPS', 'EXPLORES'];
/**
 * Work can mark its reservation as done before it stores its fact: then the fact is stored within this time. Work can
 * also mark its reservation as done at any time after the fact is stored.
 */
const MAX_DONE_BEFORE_FACT_MS = 60_000;

/** The positions of the streams at an instant. */
interface StreamPositions {
  at: Date;
  lastSeq: Map<ChargedStream, number>;
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
      this.log.error({ err: error }, 'reservations that nothing will settle could not be dropped'),
  });
  private positions: StreamPositions | undefined;

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
    if (this.positions) {
      const { at, lastSeq } = this.positions;
      const passed = await Promise.all([...lastSeq].map(([stream, seq]) => this.hasCharged(stream, seq)));
      if (passed.includes(false)) return;
      await dropNeverCharged(this.database, new Date(at.getTime() - MAX_DONE_BEFORE_FACT_MS));
    }
    const at = await nowOf(this.database);
    const lastSeq = new Map<ChargedStream, number>();
    for (const stream of STREAMS)
      lastSeq.set(stream, (await this.bus.jsm.streams.info(stream)).state.last_seq);
    this.positions = { at, lastSeq };
  }

  /**
   * Returns whether all facts up to the position are charged. Purged messages are never acknowledged, so all facts also
   * count as charged if no message is pending.
   */
  private async hasCharged(stream: ChargedStream, seq: number): Promise<boolean> {
    const info = await this.bus.jsm.consumers.info(stream, chargingConsumerOf(stream));
    return info.ack_floor.stream_seq >= seq || info.num_pending + info.num_ack_pending === 0;
  }
}
