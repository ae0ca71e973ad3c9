import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { insertRows, NO_ID, type ClickHouseClient, type MentionVectorRow } from '#clickhouse';
import { EventSchema, type Event } from '#contracts';
import { EmbeddingsUnavailable, type Embedder } from '#embeddings';
import { done, FEW_WRITES, retry, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { VECTORS_SINK } from '#projections';
import type { Logger } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { EMBEDDER } from '../config.js';
import { vectorRows, type SearchableMention } from '../search/mention-vectors.js';
import { knownWatches } from './check-sink.js';

const UNAVAILABLE_MS = 5_000;
/**
 * Mentions that are older than this and whose events contain no embedding of the present model are embedded only by
 * `embeddings backfill`. A new consumer reads 90 days of events, and new mentions must not wait until all of these are
 * embedded.
 */
const LEFT_AFTER_MS = 3_600_000;

/** Writes a vector of the meaning of each new mention, so that a semantic search finds the mention. */
@Controller()
export class VectorsSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(EMBEDDER) private readonly embedder: Embedder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  @ConsumerPattern({ stream: 'EVENTS', name: VECTORS_SINK, batchSize: 200, batchesAtOnce: 2, ...FEW_WRITES })
  async write(batch: readonly Pick<JsMsg, 'data' | 'time'>[]): Promise<Outcome[]> {
    const mentions = batch.flatMap(({ data, time }) => {
      const mention = searchable(fromBinary(EventSchema, data), this.embedder.model);
      return mention && (mention.embedding || isNew(time)) ? [mention] : [];
    });
    try {
      const rows = await vectorRows(this.embedder, mentions);
      // The watches are queried after the embedding, which can take seconds, so that watches that were purged meanwhile
      // are left out.
      const known = await knownWatches(
        this.database,
        mentions.map(({ watchId }) => watchId),
      );
      const purged = new Set(
        mentions.filter(({ watchId }) => !known.has(watchId)).map(({ eventId }) => eventId),
      );
      await insertRows<MentionVectorRow>(
        this.clickhouse,
        'mention_vectors',
        rows.filter(({ event_id }) => !purged.has(event_id)),
      );
      return batch.map(() => done);
    } catch (error) {
      if (!(error instanceof EmbeddingsUnavailable)) throw error;
      this.log.warn({ err: error }, 'new mentions cannot be searched by meaning yet');
      return batch.map(() => retry(UNAVAILABLE_MS));
    }
  }
}

function isNew(time: Date): boolean {
  return Date.now() - time.getTime() < LEFT_AFTER_MS;
}

/** Returns undefined for an event of the keyword itself. */
function searchable(event: Event, model: string): (SearchableMention & { watchId: string }) | undefined {
  const item = event.matched?.item;
  if (!item) return undefined;
  return {
    accountId: event.accountId,
    occurredAt: event.occurredAt,
    eventId: event.eventId,
    keywordId: event.keywordId || NO_ID,
    watchId: event.watchId,
    source: event.source,
    dropped: event.dropped !== undefined,
    explored: false,
    title: item.title,
    text: item.text,
    titleOfParent: item.titleOfParent,
    embedding: event.embeddingModel === model && event.embedding.length > 0 ? event.embedding : undefined,
  };
}
