import { Inject, Injectable } from '@nestjs/common';
import { NO_ID, selectRows, type ClickHouseClient } from '#clickhouse';
import { fromBfloat16, ownText, type Embedder } from '#embeddings';
import { Refusal } from '#kernel';
import { CLICKHOUSE, DATABASE } from '#platform';
import type { Database } from '#postgres';
import { EMBEDDER } from '../config.js';
import { knownWatches } from '../readmodels/check-sink.js';
import type { MentionWithVector } from './group.js';

/** A mention that is analysed. */
export interface AnalysedMention {
  id: string;
  source: string;
  kind: string;
  title: string;
  text: string;
  author: string;
  community: string;
  /** The mention's own text, without the title of the parent post. */
  own: string;
}

/** Kinds of mentions whose title is the title of the parent post. */
const REPLY_KINDS = ['comment', 'answer'];

/** Reads the mentions of an analysis, and computes the vectors of their meaning. */
@Injectable()
export class AnalysedMentions {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(EMBEDDER) private readonly embedder: Embedder,
  ) {}

  /**
   * Returns the mentions, in the given order.
   * @throws Refusal `not-found` if a mention belongs to another account, does not exist or was purged
   */
  async read(accountId: string, ids: readonly string[]): Promise<AnalysedMention[]> {
    const rows = await selectRows<Record<string, string | null>>(
      this.clickhouse,
      `SELECT toString(event_id) AS id, watch_id, source, kind, title, text, author, community FROM mentions FINAL
       WHERE account_id = {accountId: UUID} AND event_id IN {ids: Array(UUID)}`,
      { accountId, ids },
    );
    // The items of an Explore have no watch.
    const watchIds = rows.map((row) => String(row.watch_id)).filter((id) => id !== NO_ID);
    const known = await knownWatches(this.database, watchIds);
    const found = new Map(
      rows
        .filter((row) => row.watch_id === NO_ID || known.has(String(row.watch_id)))
        .map((row) => [row.id, mentionOf(row)]),
    );
    return ids.map((id) => {
      const mention = found.get(id);
      if (!mention) throw new Refusal('not-found', 'NOT_FOUND', `mention ${id} not found`);
      return mention;
    });
  }

  /**
   * Returns the mentions whose text has a vector (see `vectors`), each with the vector of its meaning.
   * @throws EmbeddingsUnavailable
   */
  async withVectors(mentions: readonly AnalysedMention[]): Promise<MentionWithVector[]> {
    const vectors = await this.vectors(mentions.map(({ own }) => own));
    return mentions.flatMap(({ id, own }, n) => (vectors[n] ? [{ id, text: own, vector: vectors[n] }] : []));
  }

  /**
   * Returns the vector of each text's meaning; undefined for a text whose vector is empty (see `Embedder`).
   * @throws EmbeddingsUnavailable
   */
  async vectors(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    const found = await this.embedder.embed(texts);
    return found.map((bytes) => (bytes.length > 0 ? fromBfloat16(bytes) : undefined));
  }
}

function mentionOf(row: Record<string, string | null>): AnalysedMention {
  const text = (key: string) => row[key] ?? '';
  const kind = text('kind');
  const parts = { title: text('title'), text: text('text') };
  return {
    id: text('id'),
    source: text('source'),
    kind,
    ...parts,
    author: text('author'),
    community: text('community'),
    own: ownText({ ...parts, titleOfParent: REPLY_KINDS.includes(kind) }),
  };
}
