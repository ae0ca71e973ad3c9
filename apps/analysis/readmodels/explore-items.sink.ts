import { create, fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import {
  insertRows,
  NO_ID,
  type ClickHouseClient,
  type MentionRow,
  type MentionVectorRow,
} from '#clickhouse';
import { EventSchema, ExploreDecisionSchema, MatchedItemSchema, type Item } from '#contracts';
import { EmbeddingsUnavailable, type Embedder } from '#embeddings';
import { derivedId } from '#kernel';
import { done, type Outcome } from '#messaging';
import { CLICKHOUSE, LOG } from '#platform';
import { EXPLORE_ITEMS_SINK } from '#projections';
import type { Logger } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { EMBEDDER } from '../config.js';
import { vectorRows } from '../search/mention-vectors.js';
import { mentionRow } from './mentions.sink.js';

/** An item that an Explore found, with the row of its mention. */
interface ExploredItem {
  item: Item;
  row: MentionRow;
}

/** Writes the items of each Explore to ClickHouse, as mentions without a keyword and without readings. */
@Controller()
export class ExploreItemsSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(EMBEDDER) private readonly embedder: Embedder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  @ConsumerPattern({ stream: 'EXPLORES', name: EXPLORE_ITEMS_SINK, batchSize: 50 })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const explored = batch.flatMap(({ data }) => exploredItems(data));
    if (explored.length > 0) {
      const rows = explored.map(({ row }) => row);
      await insertRows<MentionRow>(this.clickhouse, 'mentions', rows);
      await this.makeSearchable(explored);
    }
    return batch.map(() => done);
  }

  /**
   * Writes the vectors of the items. If the server of the embeddings fails, the items have no vectors until
   * somebody runs `embeddings backfill`.
   */
  private async makeSearchable(explored: readonly ExploredItem[]): Promise<void> {
    try {
      const rows = await vectorRows(
        this.embedder,
        explored.map(({ item, row }) => ({
          accountId: row.account_id,
          occurredAt: row.occurred_at,
          eventId: row.event_id,
          keywordId: NO_ID,
          source: row.source,
          dropped: false,
          explored: true,
          title: item.title,
          text: item.text,
          titleOfParent: item.titleOfParent,
        })),
      );
      await insertRows<MentionVectorRow>(this.clickhouse, 'mention_vectors', rows);
    } catch (error) {
      if (!(error instanceof EmbeddingsUnavailable)) throw error;
      this.log.warn({ err: error }, 'items of an Explore cannot be searched by meaning yet');
    }
  }
}

function exploredItems(data: Uint8Array): ExploredItem[] {
  const { accountId, exploreId, events } = fromBinary(ExploreDecisionSchema, data);
  return events.flatMap(({ event }) => {
    if (event.case !== 'itemsFound') return [];
    const { source, items, requestedAt } = event.value;
    return items.flatMap((item) => {
      // After a crash, an Explore can find the same item a second time. The second row has the same id and the same time,
      // and ClickHouse keeps only one of such rows.
      const found = create(EventSchema, {
        eventId: derivedId('explored', exploreId, source, item.itemId),
        accountId,
        watchId: NO_ID,
        source,
        type: item.eventType,
        occurredAt: requestedAt,
        checkId: NO_ID,
        matched: create(MatchedItemSchema, { item }),
        matchMode: 'platform',
      });
      return mentionRow(found).map((row) => ({ item, row: { ...row, explore_id: exploreId } }));
    });
  });
}
