import { Inject, Injectable } from '@nestjs/common';
import type { EventStore } from '#event-store';
import { systemClock } from '#kernel';
import { DATABASE, LOG, STORE } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { NatsStrategy } from '#transport';
import { dueLanes } from '../due/due-lanes.js';
import type { SharedQuery } from '../due/shared-query.js';
import { CheckRecorder } from '../record/check-recorder.js';
import { queuedExplores } from '../explore/explore-jobs.js';
import { ExploreWorker } from '../explore/explore-worker.js';
import { LaneWorker } from './lane-worker.js';
import { LookupWorker } from '../lookups/lookup-worker.js';
import type { Lane } from './lane.js';

/** Work that runs while this replica holds a lane. */
export interface WorkOnLane {
  /** Stops the work. Resolves when the running requests have ended. */
  stop(): Promise<void>;
}

/** Starts the work on lanes: checks on each lane, and on the first lane of a source its lookups and Explores. */
@Injectable()
export class LaneWork {
  private readonly due: SharedQuery;
  private readonly explores: SharedQuery;
  private readonly recorder: CheckRecorder;
  private readonly lookups: LookupWorker;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    strategy: NatsStrategy,
    @Inject(LOG) private readonly log: Logger,
  ) {
    this.due = dueLanes(database);
    this.explores = queuedExplores(database);
    this.recorder = new CheckRecorder(database, store, () => systemClock.now().getTime());
    this.lookups = new LookupWorker(strategy, database, store, log);
  }

  /** Starts the work on the lane. `queryEveryMs`: time between two queries for due work. */
  begin(lane: Lane, queryEveryMs: number): WorkOnLane {
    const worker = new LaneWorker(
      lane,
      this.database,
      this.due,
      this.recorder,
      systemClock,
      queryEveryMs,
      this.log,
    );
    worker.start();
    const isFirst = lane.name.endsWith(':0');
    const answers = lane.connector.lookups && isFirst ? this.lookups.open(lane) : undefined;
    const explores = isFirst
      ? new ExploreWorker(
          lane,
          () => worker.isIdle,
          this.explores,
          this.database,
          this.store,
          this.log,
          queryEveryMs,
        )
      : undefined;
    explores?.start();
    return {
      async stop() {
        await Promise.all([answers?.stop(), worker.stop(), explores?.stop()]);
      },
    };
  }
}
