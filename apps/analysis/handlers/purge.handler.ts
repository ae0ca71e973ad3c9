import { fromBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import type { ClickHouseClient } from '#clickhouse';
import { purgeDurable, type Durable } from '#messaging';

/** Deletes a purged keyword from ClickHouse. `SYNC` mutations: when it returns, no read sees a row any more. */
export function analysisPurge(clickhouse: ClickHouseClient): Durable {
  return purgeDurable('analysis', async (data) => {
    const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, data);
    for (const table of ['mentions', 'activity'])
      await clickhouse.command({
        query: `ALTER TABLE ${table} DELETE WHERE account_id = {accountId: UUID} AND keyword_id = {keywordId: UUID} SETTINGS mutations_sync = 2`,
        query_params: { accountId, keywordId },
      });
    await clickhouse.command({
      query:
        'ALTER TABLE events DELETE WHERE watch_id IN {watchIds: Array(UUID)} SETTINGS mutations_sync = 2',
      query_params: { watchIds },
    });
  });
}
