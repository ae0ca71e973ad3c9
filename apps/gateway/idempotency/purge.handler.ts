import { fromBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import { purgeDurable, type Durable } from '#messaging';
import type { Database } from '#postgres';
import { IdempotencyRecords } from './idempotency-records.js';

/** Deletes what was answered about a purged keyword under an `Idempotency-Key`. */
export function gatewayPurge(database: Database): Durable {
  const records = new IdempotencyRecords(database);
  return purgeDurable('gateway', async (data) => {
    const { accountId, keywordId } = fromBinary(PurgeSchema, data);
    await records.forgetKeyword(accountId, keywordId);
  });
}
