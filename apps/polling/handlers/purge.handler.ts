import { fromBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { purgeDurable, subjectOf, type Durable } from '#messaging';
import { transactionWithoutLimit, type Database } from '#postgres';
import { forgetPositions } from '#projections';
import { SCHEDULE, unschedule } from '../projections/schedule.projection.js';

/** Takes a purged keyword out of the due work, and deletes its checks. */
export function pollingPurge(database: Database, store: EventStore): Durable {
  return purgeDurable('polling', async (data) => {
    const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, data);
    await transactionWithoutLimit(database, async (tx) => {
      await unschedule(tx, 'keyword_id', keywordId);
      // A check that was under way when its watch went has left rows behind it.
      await tx.query('DELETE FROM seen_items WHERE watch_id = ANY($1)', [watchIds]);
      await forgetPositions(tx, SCHEDULE, [subjectOf('KEYWORDS', accountId, keywordId)]);
    });
    for (const id of [...watchIds, keywordId])
      await store.erase('CHECKS', subjectOf('CHECKS', accountId, id));
  });
}
