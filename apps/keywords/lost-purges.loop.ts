import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { PurgeSchema, type Purge } from '#contracts';
import type { EventStore } from '#event-store';
import { newId } from '#kernel';
import { batchesOf, type Bus } from '#messaging';
import { BUS, DATABASE, LOG, STORE, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { markPurged } from './handlers/purge.handler.js';

/**
 * Runs at each start, and purges again the purged keywords that Postgres contains: Postgres was restored from a copy that
 * is older than the purge. All services have processed the first request already.
 */
@Injectable()
export class LostPurgesLoop implements Loop {
  readonly name = 'lost-purges';
  private stopping = false;
  private finished: Promise<void> = Promise.resolve();

  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.finished = this.pass().catch((error: unknown) =>
      this.log.error(
        { err: error },
        'purges could not be compared with Postgres; Earshot tries again at the next start',
      ),
    );
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.finished;
  }

  /** Compares each request on PURGES with Postgres. */
  async pass(): Promise<void> {
    for await (const batch of batchesOf(this.bus, 'PURGES'))
      for (const { subject, data } of batch) {
        if (this.stopping) return;
        const purge = fromBinary(PurgeSchema, data);
        if (!(await this.isStillThere(purge))) continue;
        this.log.warn({ keywordId: purge.keywordId }, 'Postgres contains a purged keyword; purging it again');
        await this.store.publish(subject, data, newId());
        await markPurged(this.database, purge);
      }
  }

  /** A keyword that was created again after the purge, by a repetition of the first request, is another keyword. */
  private async isStillThere({ keywordId, requestedAt }: Purge): Promise<boolean> {
    const rows = await this.database.query<unknown[]>(
      'SELECT 1 FROM keywords WHERE keyword_id = $1 AND created_at <= $2',
      [keywordId, requestedAt],
    );
    return rows.length > 0;
  }
}
