import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type ClickHouseClient, type MentionRow } from '#clickhouse';
import type { AskedQuestion } from '#contracts';
import { fromBfloat16 } from '#embeddings';
import { CLICKHOUSE } from '#platform';
import { conditionsOf, type Conditions, type MentionFilter } from './mention-filter.js';
import { PurgedKeywords } from './purged-keywords.js';
import {
  ranked,
  weightOf,
  wordsOf,
  type Candidate,
  type Scored,
  type WordWeights,
} from './semantic-score.js';
import { clickHouseTime } from './time-page.js';

/** Maximum number of mentions that a semantic search returns on all pages together. */
export const MAX_FOUND = 200;

/** The rarity of a word is estimated from this many of the newest mentions. */
const SAMPLE_SIZE = 5_000;
/** A word that occurs in more than this part of the mentions selects no candidates: there would be too many. */
const MAX_RARE_SHARE = 0.05;
const MIN_RARE_WEIGHT = weightOf(MAX_RARE_SHARE * SAMPLE_SIZE, SAMPLE_SIZE);
/**
 * Maximum number of candidates that are selected because they contain rare words of the question. The meaning of such
 * candidates can be far from the question.
 */
const CANDIDATES_BY_WORDS = 50;
/**
 * Minimum number of the nearest mentions that are candidates. Large pages and later pages have more candidates.
 * `ranked` then ranks the candidates.
 */
const MIN_CANDIDATES = 120;
/**
 * Rows that are read in addition to the page, because some of the nearest mentions possibly do not pass the filters.
 */
const SPARE_ROWS = 10;

/** The scope of a search: a time window of the mentions of an account or of one keyword. */
export interface SearchScope {
  accountId: string;
  keywordId: string | undefined;
  filter: MentionFilter;
  since: Date;
  /** Exclusive. */
  until: Date;
}

/** A mention with its score. */
export interface FoundMention {
  row: MentionRow;
  /** 0 to 1 */
  score: number;
}

/** Finds mentions by their meaning. */
@Injectable()
export class SemanticReads {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    private readonly purged: PurgedKeywords,
  ) {}

  /**
   * Returns the mentions that are nearest to the question, best first. Mentions of purged keywords are left out.
   * @param max maximum number of mentions, without the mentions of earlier pages
   * @param seen number of mentions of earlier pages
   * @param isSeen whether an earlier page has the mention
   */
  async search(
    scope: SearchScope,
    question: AskedQuestion,
    max: number,
    seen = 0,
    isSeen: (eventId: string) => boolean = () => false,
  ): Promise<FoundMention[]> {
    const conditions = await this.conditions(scope, question.model);
    const count = Math.max(MIN_CANDIDATES, 2 * (seen + max));
    const { candidates, weights } = await this.candidates(conditions, question, count);
    const unseen = (found: readonly Candidate[]) =>
      ranked(question.meanings, weights, found).filter(({ event_id }) => !isSeen(event_id));
    const first = unseen(candidates).slice(0, max + SPARE_ROWS);
    const found = await this.rows(scope, first);
    const isComplete = candidates.length < count && first.length < max + SPARE_ROWS;
    if (found.length >= max || isComplete) return found.slice(0, max);
    // Few of the nearest mentions pass the filters. So only mentions that pass are ranked, which is slower.
    const passing = await this.candidates(passingOnly(scope, conditions), question, count);
    return (await this.rows(scope, unseen(passing.candidates).slice(0, max))).slice(0, max);
  }

  /** Returns the nearest mentions by meaning, and mentions that contain rare words of the question. */
  private async candidates(
    conditions: Conditions,
    question: AskedQuestion,
    count: number,
  ): Promise<{ candidates: Candidate[]; weights: WordWeights }> {
    const byMeaning = question.meanings.map(({ vector }) => `dotProduct(embedding, ${vectorSql(vector)})`);
    const near = this.best(conditions, greatest(byMeaning), count);
    // If the weights cannot be read, nothing awaits this promise. Its rejection must not end the process.
    near.catch(() => undefined);
    const weights = await this.weights(conditions.params, question);
    const rare = [...weights].filter(([, weight]) => weight >= MIN_RARE_WEIGHT);
    const byWords = rare.map(([word, weight]) => `${weight.toFixed(4)} * has(words, ${word})`).join(' + ');
    const hasAny = `hasAny(words, [${rare.map(([word]) => word).join(',')}]::Array(UInt32))`;
    const byRareWords =
      rare.length === 0
        ? []
        : await this.best({ ...conditions, sql: [...conditions.sql, hasAny] }, byWords, CANDIDATES_BY_WORDS);
    return { candidates: [...(await near), ...byRareWords], weights };
  }

  private best({ sql, params }: Conditions, score: string, count: number): Promise<Candidate[]> {
    return selectRows<Candidate>(
      this.clickhouse,
      `SELECT event_id, occurred_at, embedding, words FROM mention_vectors
       WHERE ${sql.join(' AND ')} ORDER BY ${score} DESC, event_id LIMIT ${count}`,
      params,
    );
  }

  private async weights(params: Conditions['params'], { meanings }: AskedQuestion): Promise<WordWeights> {
    const words = wordsOf(meanings);
    if (words.length === 0) return new Map();
    const [row] = await selectRows<{ total: string; counts: string[] }>(
      this.clickhouse,
      `SELECT count() AS total, [${words.map((word) => `countIf(has(words, ${word}))`).join(', ')}] AS counts
       FROM (SELECT words FROM mention_vectors WHERE account_id = {accountId: UUID} AND model = {model: String}
         ORDER BY occurred_at DESC LIMIT ${SAMPLE_SIZE})`,
      params,
    );
    const total = Number(row?.total ?? 0);
    return new Map(words.map((word, n) => [word, weightOf(Number(row?.counts[n] ?? 0), total)]));
  }

  /**
   * Returns the whole rows of the mentions that pass the filters, in the given order. This query chooses the last
   * version of each row itself: for scattered rows FINAL takes a third more processor time.
   */
  private async rows(scope: SearchScope, mentions: readonly Scored[]): Promise<FoundMention[]> {
    if (mentions.length === 0) return [];
    const filter = filterOf(scope);
    const versions = await selectRows<MentionRow & { passes: number }>(
      this.clickhouse,
      `SELECT *, toUInt8(${filter.sql.join(' AND ') || '1'}) AS passes FROM mentions
       WHERE account_id = {accountId: UUID} AND ${conditionFor(mentions)} ORDER BY version`,
      { accountId: scope.accountId, ...filter.params },
    );
    const last = new Map(versions.map((row) => [row.event_id, row]));
    return mentions.flatMap(({ event_id, score }) => {
      const row = last.get(event_id);
      return row?.passes ? [{ row, score }] : [];
    });
  }

  /** Returns the conditions on `mention_vectors`: the scope, and the filters whose columns this table has. */
  private async conditions(scope: SearchScope, model: string): Promise<Conditions> {
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
}

function greatest(values: readonly string[]): string {
  return values.length === 1 ? values[0]! : `greatest(${values.join(', ')})`;
}

/**
 * Returns the numbers of a vector as SQL. The numbers are safe in the statement because Earshot computed them. As a
 * parameter, the vector can be too long for the address of the request.
 */
function vectorSql(vector: Uint8Array): string {
  return `[${Array.from(fromBfloat16(vector), (value) => value.toPrecision(4)).join(',')}]::Array(BFloat16)`;
}

function windowSql(): string[] {
  return [
    'account_id = {accountId: UUID}',
    `occurred_at >= {since: DateTime64(3, 'UTC')}`,
    `occurred_at < {until: DateTime64(3, 'UTC')}`,
  ];
}

/** Returns the conditions, and adds the condition that the mention passes the filters. */
function passingOnly(scope: SearchScope, { sql, params }: Conditions): Conditions {
  const filter = filterOf(scope);
  const passing = `event_id IN (SELECT event_id FROM mentions FINAL
    WHERE ${[...windowSql(), ...filter.sql].join(' AND ')})`;
  return { sql: [...sql, passing], params: { ...params, ...filter.params } };
}

/** Returns the conditions of the filters on `mentions`. The question itself is not a filter. */
function filterOf({ filter }: SearchScope): Conditions {
  return conditionsOf({ ...filter, texts: [] });
}

/**
 * Returns the condition for exactly these mentions. Their times and ids are safe in the statement because ClickHouse
 * has just returned them. Parameters would be part of the address of the request.
 */
function conditionFor(mentions: readonly Scored[]): string {
  const quoted = (values: readonly string[]) => [...new Set(values)].map((value) => `'${value}'`).join(',');
  return `occurred_at IN (${quoted(mentions.map((one) => one.occurred_at))})
    AND event_id IN (${quoted(mentions.map((one) => one.event_id))})`;
}
