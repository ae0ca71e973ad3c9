import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { eraseTwice, purgeConsumer, subjectOf, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import { transactionWithoutLimit, type Database } from '#postgres';
import { forgetPositions } from '#projections';
import { ConsumerPattern } from '#transport';
import { SCHEDULE, unschedule } from '../projections/schedule.projection.js';

/** Removes a purged keyword from the due work, and deletes its checks. */
@Controller()
export class PurgeHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern(purgeConsumer('polling'))
  handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return eraseTwice(batch, (purge) => this.erase(purge));
  }

  private async erase(purge: Uint8Array): Promise<void> {
    const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, purge);
    await transactionWithoutLimit(this.database, async (tx) => {
      // The projection also writes its position in the stream before the rows, so both lock in the same order.
      await forgetPositions(tx, SCHEDULE, [subjectOf('KEYWORDS', accountId, keywordId)]);
      await unschedule(tx, 'keyword_id', keywordId);
      // If a check was running when its watch was deleted, it can have left rows.
      await tx.query('DELETE FROM seen_items WHERE watch_id = ANY($1)', [watchIds]);
    });
    for (const id of [...watchIds, keywordId])
      await this.store.erase('CHECKS', subjectOf('CHECKS', accountId, id));
  }
}
