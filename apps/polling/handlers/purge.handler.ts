import { fromBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import { purgeDurable, type Durable } from '#messaging';
import type { Database } from '#postgres';
import { unschedule } from '../projections/schedule.projection.js';

/** Takes a purged keyword out of the due work. */
export function pollingPurge(database: Database): Durable {
  return purgeDurable('polling', async (data) => {
    const { keywordId } = fromBinary(PurgeSchema, data);
    await database.transaction((tx) => unschedule(tx, 'keyword_id', keywordId));
  });
}
