import { fromBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import { purgeDurable, type Durable } from '#messaging';
import { transactionWithoutLimit, type Database } from '#postgres';

/** Deletes the deliveries of a purged keyword that still wait. */
export function deliveryPurge(database: Database): Durable {
  return purgeDurable('delivery', async (data) => {
    const { keywordId, watchIds } = fromBinary(PurgeSchema, data);
    await transactionWithoutLimit(database, (tx) =>
      tx.query('DELETE FROM pending_deliveries WHERE watch_id = ANY($1)', [[...watchIds, keywordId]]),
    );
  });
}
