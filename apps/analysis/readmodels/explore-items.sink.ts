import { create, fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { insertRows, NO_ID, type ClickHouseClient, type MentionRow } from '#clickhouse';
import { EventSchema, ExploreDecisionSchema, MatchedItemSchema } from '#contracts';
import { derivedId } from '#kernel';
import { done, type Outcome } from '#messaging';
import { CLICKHOUSE } from '#platform';
import { EXPLORE_ITEMS_SINK } from '#projections';
import { ConsumerPattern } from '#transport';
import { mentionRow } from './mentions.sink.js';

/** Writes the items that Explores found to ClickHouse as mentions without a keyword and without readings. */
@Controller()
export class ExploreItemsSink {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  @ConsumerPattern({ stream: 'EXPLORES', name: EXPLORE_ITEMS_SINK, batchSize: 50 })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const rows = batch.flatMap(({ data }) => exploredRows(data));
    if (rows.length > 0) await insertRows<MentionRow>(this.clickhouse, 'mentions', rows);
    return batch.map(() => done);
  }
}

function exploredRows(data: Uint8Array): MentionRow[] {
  const { accountId, exploreId, decidedAt, events } = fromBinary(ExploreDecisionSchema, data);
  return events.flatMap(({ event }) => {
    if (event.case !== 'itemsFound') return [];
    const { source, items } = event.value;
    return items.flatMap((item) => {
      const found = create(EventSchema, {
        eventId: derivedId('explored', exploreId, item.itemId),
        accountId,
        watchId: NO_ID,
        source,
        type: item.eventType,
        occurredAt: decidedAt,
        checkId: NO_ID,
        matched: create(MatchedItemSchema, { item }),
        matchMode: 'platform',
      });
      return mentionRow(found).map((row) => ({ ...row, explore_id: exploreId }));
    });
  });
}
