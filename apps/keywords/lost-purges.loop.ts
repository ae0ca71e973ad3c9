import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { newId } from '#kernel';
import { batchesOf, type Bus } from '#messaging';
import { BUS, DATABASE, LOG, STORE, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { markPurged } from './handlers/purge.handler.js';

/**
 * Runs at each start, and requests purges again that Postgres does not know: Postgres was restored from a copy that is
 * older than the purge, so it contains the purged keyword. All services have processed the first request already.
 */
@Injectable()
export class LostPurgesLoop implements Loop {
  readonly name = 'lost-purges';
  private finished: Promise<void> = Promise.resolve();

  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.finished = this.work().catch((error: unknown) =>
      this.log.error(
        { err: error },
        'purges could not be compared with Postgres; Earshot tries again at the next start',
      ),
    );
  }

  async stop(): Promise<void> {
    await this.finished;
  }

  private async work(): Promise<void> {
    for await (const batch of batchesOf(this.bus, 'PURGES'))
      for (const { subject, data } of batch) {
        const { keywordId, accountId } = fromBinary(PurgeSchema, data);
        if (await this.isKnown(keywordId)) continue;
        this.log.warn({ keywordId }, 'Postgres does not know that a keyword was purged; purging it again');
        await this.store.publish(subject, data, newId());
        await markPurged(this.database, { keywordId, accountId });
      }
  }

  private async isKnown(keywordId: string): Promise<boolean> {
    const known = await this.database.query<unknown[]>(
      'SELECT 1 FROM purged_keywords WHERE keyword_id = $1',
      [keywordId],
    );
    return known.length > 0;
  }
}
