import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type ClickHouseClient, type MentionRow } from '#clickhouse';
import type { AskedQuestion } from '#contracts';
import { CLICKHOUSE } from '#platform';
import { conditionsOf, type Conditions, type MentionFilter } from './mention-filter.js';
import { PurgedKeywords } from './purged-keywords.js';
import { scoreSql, wordHashes, type WordWeights } from './semantic-score.js';
import { clickHouseTime } from './time-page.js';

/** A semantic search never returns more mentions than these, on all pages together. */
export const MOST_FOUND = 200;

/** The rarity of a word is estimated from this many of the newest mentions. */
const SAMPLE = 20_000;
/** Nearest mentions that are checked against the filters first. If too few pass, all mentions that pass are ranked. */
const SPARE_CANDIDATES = 50;

/** What is searched: a window of an account's mentions, or of one keyword's. */
export interface SearchScope {
  accountId: string;
  keywordId: string | undefined;
  filter: MentionFilter;
  since: Date;
  /** Exclusive. */
  until: Date;
}

/** A mention found by its meaning. */
export interface Scored {
  event_id: string;
  /** ClickHouse's format. */
  occurred_at: string;
  /** 0 to 1 */
  score: number;
}

/** Finds mentions by what they mean. */
@Injectable()
export class SemanticReads {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    private readonly purged: PurgedKeywords,
  ) {}

  /** The mentions that are nearest to the question, best first; purged ones are never among them. */
  async ranking(scope: SearchScope, question: AskedQuestion, most = MOST_FOUND): Promise<Scored[]> {
    const common = await this.common(scope, question.model);
    const score = scoreSql(question.meanings, await this.weights(scope.accountId, question));
    const candidates = await this.nearest(common, score, 2 * most + SPARE_CANDIDATES);
    const passing = await this.passing(scope, common, candidates);
    const isComplete = passing.length >= most || candidates.length < 2 * most + SPARE_CANDIDATES;
    const found = isComplete ? passing : await this.nearestPassing(scope, common, score, most);
    return once(found).slice(0, most);
  }

  /** The whole rows of mentions, in the given order. One that was purged meanwhile is left out. */
  async rows(accountId: string, mentions: readonly Scored[]): Promise<{ row: MentionRow; score: number }[]> {
    if (mentions.length === 0) return [];
    const found = await selectRows<MentionRow>(
      this.clickhouse,
      `SELECT * FROM mentions FINAL WHERE account_id = {accountId: UUID} AND ${theseOf(mentions)}`,
      { accountId },
    );
    const byId = new Map(found.map((row) => [row.event_id, row]));
    return mentions.flatMap(({ event_id, score }) => {
      const row = byId.get(event_id);
      return row ? [{ row, score }] : [];
    });
  }

  private nearest({ sql, params }: Conditions, score: string, most: number): Promise<Scored[]> {
    return selectRows<Scored>(
      this.clickhouse,
      `SELECT event_id, occurred_at, ${score} AS score FROM mention_vectors WHERE ${sql.join(' AND ')}
       ORDER BY score DESC, event_id LIMIT ${most}`,
      params,
    );
  }

  /** The candidates that pass the filters, in their order. */
  private async passing(
    scope: SearchScope,
    common: Conditions,
    candidates: readonly Scored[],
  ): Promise<Scored[]> {
    if (candidates.length === 0) return [];
    const filter = filterOf(scope);
    const rows = await selectRows<{ event_id: string }>(
      this.clickhouse,
      `SELECT event_id FROM mentions FINAL
       WHERE account_id = {accountId: UUID} AND ${[...filter.sql, theseOf(candidates)].join(' AND ')}`,
      { ...common.params, ...filter.params },
    );
    const ids = new Set(rows.map((row) => row.event_id));
    return candidates.filter(({ event_id }) => ids.has(event_id));
  }

  /** Ranks every mention that passes the filters: slower, for filters that few mentions pass. */
  private nearestPassing(
    scope: SearchScope,
    common: Conditions,
    score: string,
    most: number,
  ): Promise<Scored[]> {
    const filter = filterOf(scope);
    const passing = `event_id IN (SELECT event_id FROM mentions FINAL
      WHERE ${[...windowSql(), ...filter.sql].join(' AND ')})`;
    const conditions = { sql: [...common.sql, passing], params: { ...common.params, ...filter.params } };
    // A row can have been written several times.
    return this.nearest(conditions, score, 2 * most);
  }

  /** The conditions on `mention_vectors`, with the filters whose columns it has. */
  private async common(scope: SearchScope, model: string): Promise<Conditions> {
    const { accountId, keywordId, filter, since, until } = scope;
    const sql = [...windowSql(), 'model = {model: String}'];
    const params: Record<string, unknown> = {
      accountId,
      model,
      since: clickHouseTime(since),
      until: clickHouseTime(until),
    };
    const purged = await this.purged.of(accountId);
    if (purged.length > 0) {
      sql.push('keyword_id NOT IN {purged: Array(UUID)}');
      params.purged = purged;
    }
    if (keywordId) {
      sql.push('keyword_id = {keywordId: UUID}');
      params.keywordId = keywordId;
    }
    if (filter.keywords.length > 0) {
      sql.push('toString(keyword_id) IN {keywords: Array(String)}');
      params.keywords = filter.keywords.map((id) => id.toLowerCase());
    }
    if (filter.sources.length > 0) {
      sql.push('source IN {sources: Array(String)}');
      params.sources = filter.sources;
    }
    if (!filter.dropped) sql.push('NOT dropped');
    return { sql, params };
  }

  /** How much each word of the question says: the rarer it is among the account's mentions, the more. */
  private async weights(accountId: string, { model, meanings }: AskedQuestion): Promise<WordWeights> {
    const hashes = wordHashes(meanings);
    if (hashes.length === 0) return new Map();
    const counts = hashes.map((hash, n) => `countIf(has(words, ${hash})) AS n${n}`).join(', ');
    const [row] = await selectRows<Record<string, string>>(
      this.clickhouse,
      `SELECT count() AS total, ${counts} FROM (SELECT words FROM mention_vectors
       WHERE account_id = {accountId: UUID} AND model = {model: String} ORDER BY occurred_at DESC LIMIT ${SAMPLE})`,
      { accountId, model },
    );
    const total = Number(row?.total ?? 0);
    // The inverse document frequency of BM25.
    return new Map(
      hashes.map((hash, n) => {
        const count = Number(row?.[`n${n}`] ?? 0);
        return [hash, Math.log(1 + (total - count + 0.5) / (count + 0.5))];
      }),
    );
  }
}

function windowSql(): string[] {
  return [
    'account_id = {accountId: UUID}',
    `occurred_at >= {since: DateTime64(3, 'UTC')}`,
    `occurred_at < {until: DateTime64(3, 'UTC')}`,
  ];
}

/** The conditions of the filters on `mentions`. The question itself is not one of them. */
function filterOf({ filter }: SearchScope): Conditions {
  return conditionsOf({ ...filter, texts: [] });
}

/**
 * Exactly these mentions. Their times and ids are those that ClickHouse has just returned; hundreds of them as
 * parameters would not fit into a request's address.
 */
function theseOf(mentions: readonly Scored[]): string {
  const quoted = (values: readonly string[]) => [...new Set(values)].map((value) => `'${value}'`).join(',');
  return `occurred_at IN (${quoted(mentions.map((one) => one.occurred_at))})
    AND event_id IN (${quoted(mentions.map((one) => one.event_id))})`;
}

/** A row can have been written several times, and is returned several times until ClickHouse has merged its parts. */
function once(mentions: readonly Scored[]): Scored[] {
  return [...new Map(mentions.map((one) => [one.event_id, one])).values()];
}
