import { Inject, Injectable } from '@nestjs/common';
import type { SourceId } from '#contracts';
import type { OutboundHttp } from '#http-out';
import { Repeated, systemClock, within } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { SourceSetup } from '#sources';
import { metrics, type Logger } from '#telemetry';
import { bringForwardFar } from './due/bring-forward.js';
import { lateness } from './due/due-work.js';
import { pruneSeenItems } from './record/seen-items.js';
import type { PollingConfig } from './config.js';
import { LaneLeases, memoryOf, type LaneRow } from './lanes/lane-leases.js';
import { LaneWork, type WorkOnLane } from './lanes/lane-work.js';
import { Lane } from './lanes/lane.js';

/** How long running requests can continue while the service stops. */
const STOP_TIMEOUT_MS = 2_000;

const PRUNE_MS = 24 * 3_600_000;
const BRING_FORWARD_MS = 10 * 60_000;

/** Injection tokens of this service. */
export const POLLING_CONFIG = Symbol('polling config');
export const OUTBOUND = Symbol('outbound http');

/** Holds this replica's share of the lanes, and runs a worker on each. */
@Injectable()
export class PollingLoop implements Loop {
  readonly name = 'polling';
  private readonly workers = new Map<string, WorkOnLane>();
  /** Lanes that this replica is releasing: their last requests are running. */
  private readonly leaving = new Map<string, Promise<void>>();
  private readonly leases: LaneLeases;
  private readonly sessions = new Map<string, Map<string, unknown>>();
  private readonly sources: ReadonlyMap<SourceId, SourceSetup>;
  /** The sources whose lateness the metric shows. */
  private measured: string[] = [];
  private readonly renewals: Repeated;
  private readonly prunes: Repeated;
  private readonly corrections: Repeated;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(OUTBOUND) private readonly http: OutboundHttp,
    @Inject(POLLING_CONFIG) private readonly config: PollingConfig,
    @Inject(LOG) private readonly log: Logger,
    private readonly work: LaneWork,
  ) {
    this.leases = new LaneLeases(database, config.LANE_LEASE_MS);
    this.sources = config.sources;
    this.renewals = new Repeated({
      pauseMs: config.LANE_LEASE_MS / 3,
      run: () => this.renew(),
      failed: (error) => log.error({ err: error }, 'lanes could not be renewed'),
    });
    this.prunes = new Repeated({
      pauseMs: PRUNE_MS,
      run: () => pruneSeenItems(database),
      failed: (error) => log.error({ err: error }, 'seen items could not be pruned'),
    });
    this.corrections = new Repeated({
      pauseMs: BRING_FORWARD_MS,
      run: () => bringForwardFar(database, systemClock.now()),
      failed: (error) =>
        log.error({ err: error }, 'checks that are too far ahead could not be brought forward'),
    });
  }

  async start(): Promise<void> {
    await this.leases.prepare(new Map(this.polled().map((source) => [source, this.config.lanesOf(source)])));
    await this.renew();
    this.renewals.start();
    this.prunes.start();
    this.corrections.start();
  }

  async stop(): Promise<void> {
    // The stop does not wait for these two: each can take a minute, and can be interrupted safely.
    void this.prunes.stop();
    void this.corrections.stop();
    await this.renewals.stop();
    const workers = [...this.workers.values()].map((worker) => worker.stop());
    const stopped = Promise.all([...workers, ...this.leaving.values()]);
    // Requests that run longer than this time are cancelled; the lane's next holder repeats them.
    await within(STOP_TIMEOUT_MS, stopped);
    await this.http.close();
    await stopped;
    await this.leases.leave();
  }

  private polled(): SourceId[] {
    return [...this.sources]
      .filter(([, setup]) => setup.configured && setup.enabled)
      .map(([source]) => source);
  }

  private async renew(): Promise<void> {
    const sources = this.polled();
    const { held, surplus } = await this.leases.renew(sources);
    const wanted = new Set(held.map((row) => row.lane));
    for (const [name, worker] of this.workers)
      if (!wanted.has(name)) {
        this.workers.delete(name);
        this.endWorkOf(name, worker);
      }
    // Surplus lanes without a worker are released immediately: otherwise they would get no requests until this replica
    // stops.
    const idle = surplus.filter((lane) => !this.leaving.has(lane));
    if (idle.length > 0) await this.leases.release(idle);
    for (const row of held) if (!this.workers.has(row.lane) && !this.leaving.has(row.lane)) this.take(row);
    await this.measureLateness(sources);
  }

  private async measureLateness(sources: readonly SourceId[]): Promise<void> {
    const measured = await lateness(this.database, sources);
    // Without this removal, the metric would keep the last value of a source that has no scheduled search any more.
    for (const source of this.measured) metrics.dueSearches.remove({ source });
    this.measured = measured.map(({ source }) => source);
    for (const { source, seconds } of measured) metrics.dueSearches.set({ source }, seconds);
  }

  private endWorkOf(lane: string, worker: WorkOnLane): void {
    const leaving = worker
      .stop()
      .then(() => this.leases.release([lane]))
      .catch((error: unknown) => this.log.error({ err: error, lane }, 'a lane could not be released'))
      .finally(() => this.leaving.delete(lane));
    this.leaving.set(lane, leaving);
  }

  /**
   * Returns the session of a source, which all its lanes share: the waits that a server asks for, and the result of a
   * feed, are the same for all lanes.
   */
  private sessionOf(source: string): Map<string, unknown> {
    const session = this.sessions.get(source) ?? new Map<string, unknown>();
    this.sessions.set(source, session);
    return session;
  }

  private take(row: LaneRow): void {
    const setup = this.sources.get(row.source as SourceId);
    if (!setup) return;
    const lane = new Lane({
      name: row.lane,
      connector: setup.connector,
      baseUrl: setup.baseUrl,
      http: this.http,
      lanes: this.config.lanesOf(setup.connector.id),
      memory: memoryOf(row),
      session: this.sessionOf(row.source),
      remember: (memory) => this.leases.remember(row.lane, memory),
    });
    this.workers.set(row.lane, this.work.begin(lane, this.config.POLL_TICK_MS));
    this.log.info({ lane: row.lane }, 'lane taken');
  }
}
