import { fromBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import { purgeDurable, type Durable } from '#messaging';
import { transactionWithoutLimit, type Database } from '#postgres';
import { unschedule } from '../projections/schedule.projection.js';

/** Takes a purged keyword out of the due work. */
export function pollingPurge(database: Database): Durable {
  return purgeDurable('polling', async (data) => {
    const { keywordId, watchIds } = fromBinary(PurgeSchema, data);
    await transactionWithoutLimit(database, async (tx) => {
      await unschedule(tx, 'keyword_id', keywordId);
      // A check that was under way when its watch went has left rows behind it.
      await tx.query('DELETE FROM seen_items WHERE watch_id = ANY($1)', [watchIds]);
    });
  });
}
