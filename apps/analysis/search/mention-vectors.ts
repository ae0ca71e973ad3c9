import type { MentionVectorRow } from '#clickhouse';
import { fromBfloat16, ownText, type Embedder, type MentionText } from '#embeddings';
import { searchWords } from './words.js';

/** A mention that is indexed for the search by meaning and by words. */
export interface SearchableMention extends MentionText {
  accountId: string;
  /** ISO 8601, or ClickHouse's format. */
  occurredAt: string;
  eventId: string;
  keywordId: string;
  source: string;
  dropped: boolean;
  /** Whether an Explore found the mention. */
  explored: boolean;
  /** The vector of the embedder's model, if it already exists. */
  embedding?: Uint8Array | undefined;
}

/**
 * Returns the rows of `mention_vectors`. Embeds the mentions that do not have an embedding of the embedder's model. A
 * mention with an empty vector (see `Embedder`) gets no row.
 * @throws EmbeddingsUnavailable
 */
export async function vectorRows(
  embedder: Embedder,
  mentions: readonly SearchableMention[],
): Promise<MentionVectorRow[]> {
  const missing = mentions.filter(({ embedding }) => !embedding);
  const embedded = await embedder.embed(missing.map(ownText));
  const computed = new Map(missing.map((mention, n) => [mention, embedded[n]]));
  return mentions.flatMap((mention) => {
    const vector = mention.embedding ?? computed.get(mention);
    return vector?.length ? [rowOf(mention, embedder.model, vector)] : [];
  });
}

function rowOf(mention: SearchableMention, model: string, vector: Uint8Array): MentionVectorRow {
  return {
    account_id: mention.accountId,
    model,
    occurred_at: mention.occurredAt,
    event_id: mention.eventId,
    keyword_id: mention.keywordId,
    source: mention.source,
    dropped: mention.dropped,
    explored: mention.explored,
    embedding: numbersOf(vector),
    words: searchWords(ownText(mention)),
  };
}

/**
 * Returns short decimal numbers from which ClickHouse reads the same bfloat16 values. ClickHouse cuts the digits that a
 * bfloat16 cannot hold, so a number must not be nearer to zero than its value.
 */
export function numbersOf(vector: Uint8Array): number[] {
  return Array.from(fromBfloat16(vector), (value) => {
    const rounded = Number(value.toPrecision(5));
    return Math.abs(rounded) >= Math.abs(value) ? rounded : Number((value * 1.0001).toPrecision(5));
  });
}
