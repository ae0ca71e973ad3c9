import { NO_ID } from '#clickhouse';
import { INTENTS, SENTIMENTS, SOURCE_IDS } from '#contracts';
import type { QueryReader } from '../http/query.js';

/** The labels that a person can set on a mention. */
export const LABELS = ['to_reply', 'starred', 'flagged', 'hidden'] as const;

const MAX_QUERY_LENGTH = 200;
const MAX_QUESTION_LENGTH = 1000;
/** Maximum number of words and phrases in all `q` together, because each text is searched for each word and phrase. */
const MAX_WORDS = 50;
/** Maximum number of different questions in a semantic search. Each of them is charged. */
const MAX_QUESTIONS = 5;

/** The filter of a list of mentions. A mention must match one value of each list that is not empty. */
export interface MentionFilter {
  sources: string[];
  authors: string[];
  keywords: string[];
  sentiments: string[];
  intents: string[];
  labels: string[];
  langs: string[];
  buckets: string[];
  rules: string[];
  /**
   * The values of `q`, each with words and "phrases". The title and text of a mention must contain all words and
   * phrases of at least one entry. Case makes no difference.
   */
  texts: string[];
  /**
   * Questions of `mode=semantic`: mentions are ordered by how near their meaning is to a question. Empty for a search
   * of the text.
   */
  questions: string[];
  /** True if dropped mentions are included. */
  dropped: boolean;
  /** Mentions with a lower relevance are left out; mentions whose relevance was not read are kept. */
  minRelevance: number | undefined;
}

/** The parameters that a list of mentions accepts in addition to the common filters. */
export interface FilterOptions {
  /** False if `bucket` means the hour or day of a series. */
  buckets?: boolean;
  /** True if the list can be ordered by meaning. */
  semantic?: boolean;
}

/** Reads the filter of a list of mentions. Faults are added to `query`; `query.finish` reports them. */
export function readMentionFilter(
  query: QueryReader,
  { buckets = true, semantic = false }: FilterOptions = {},
): MentionFilter {
  const isSemantic = query.one('mode', ['text', 'semantic']) === 'semantic';
  if (isSemantic && !semantic)
    query.fault(
      'mode',
      'semantic is possible only in lists of mentions and results; leave mode out to search the text',
    );
  const included = query.all('include', ['dropped']);
  const keywords = query.ids('keyword', 'a keyword');
  return {
    sources: query.all('source', SOURCE_IDS),
    authors: query.all('author').map(handleOf),
    keywords,
    sentiments: query.all('sentiment', SENTIMENTS),
    intents: query.all('intent', INTENTS),
    labels: query.all('label', LABELS),
    langs: query.all('lang'),
    buckets: buckets ? query.all('bucket') : [],
    rules: query.all('rule'),
    texts: isSemantic ? [] : textsOf(query),
    questions: isSemantic ? questionsOf(query) : [],
    dropped: included.length > 0,
    minRelevance: query.optionalInteger('minRelevance', 0, 100),
  };
}

/** Returns a handle in the form in which handles are compared: without `@` or `u/`, in lower case. */
function handleOf(text: string): string {
  return text
    .trim()
    .replace(/^(@|\/?u\/)/i, '')
    .toLowerCase();
}

function textsOf(query: QueryReader): string[] {
  const texts = query.all('q');
  if (texts.some((text) => text.length > MAX_QUERY_LENGTH))
    query.fault('q', `must be at most ${MAX_QUERY_LENGTH} characters`);
  if (texts.flatMap(partsOf).length > MAX_WORDS)
    query.fault('q', `must contain at most ${MAX_WORDS} words and phrases`);
  return texts;
}

/** Returns the questions of a semantic search, without duplicates, in a fixed order. */
function questionsOf(query: QueryReader): string[] {
  const given = query.all('q').map((text) => text.trim().replace(/\s+/g, ' '));
  if (given.length === 0) query.fault('q', 'is required with mode=semantic: the question, in words');
  else if (!given.every((text) => /[\p{L}\p{N}]/u.test(text))) query.fault('q', 'must contain words');
  if (given.some((text) => text.length > MAX_QUESTION_LENGTH))
    query.fault('q', `must be at most ${MAX_QUESTION_LENGTH} characters`);
  const questions = [...new Set(given)].sort();
  if (questions.length > MAX_QUESTIONS)
    query.fault('q', `can be given at most ${MAX_QUESTIONS} times with mode=semantic`);
  return questions;
}

/** SQL conditions and their parameters. */
export interface Conditions {
  sql: string[];
  params: Record<string, unknown>;
}

/** Returns the filter as conditions on `mentions`; every value is a parameter. */
export function conditionsOf(filter: MentionFilter): Conditions {
  const sql: string[] = [];
  const params: Record<string, unknown> = {};
  const anyOf = (name: string, column: string, values: readonly string[]) => {
    if (values.length === 0) return;
    sql.push(`${column} IN {${name}: Array(String)}`);
    params[name] = values;
  };
  anyOf('sources', 'source', filter.sources);
  anyOf('authors', 'lowerUTF8(author)', filter.authors);
  anyOf(
    'keywords',
    'toString(keyword_id)',
    filter.keywords.map((id) => id.toLowerCase()),
  );
  // A person's correction replaces the reading.
  anyOf('sentiments', `if(corrected_sentiment != '', corrected_sentiment, sentiment)`, filter.sentiments);
  anyOf('intents', `if(corrected_intent != '', corrected_intent, intent)`, filter.intents);
  anyOf('langs', 'lang', filter.langs);
  anyOf('buckets', 'bucket', filter.buckets);
  if (filter.labels.length > 0) {
    sql.push('hasAny(labels, {labels: Array(String)})');
    params.labels = filter.labels;
  }
  if (filter.rules.length > 0) {
    sql.push('hasAny(rules, {rules: Array(String)})');
    params.rules = filter.rules;
  }
  // Items of Explores have no sentiment and no intent. A filter for authors leaves them out too.
  if (filter.sentiments.length + filter.intents.length + filter.authors.length > 0) {
    sql.push('explore_id = {noExplore: UUID}');
    params.noExplore = NO_ID;
  }
  if (!filter.labels.includes('hidden')) sql.push(`NOT has(labels, 'hidden')`);
  if (!filter.dropped) sql.push(`dropped_reason = ''`);
  if (filter.minRelevance !== undefined) {
    sql.push('ifNull(ifNull(corrected_relevance, relevance), 100) >= {minRelevance: UInt8}');
    params.minRelevance = filter.minRelevance;
  }
  if (filter.texts.length > 0) sql.push(textCondition(filter.texts, params));
  return { sql, params };
}

/**
 * Returns the condition for the texts of `q`. A mention must contain all words and phrases of one `q`; several `q` are
 * alternatives.
 */
function textCondition(texts: readonly string[], params: Record<string, unknown>): string {
  const alternatives = texts.map((text, index) => {
    const conditions = partsOf(text).map((part, n) => {
      const name = `q_${index}_${n}`;
      params[name] = part;
      return `positionCaseInsensitiveUTF8(concat(title, '\n', text), {${name}: String}) > 0`;
    });
    return conditions.length > 0 ? `(${conditions.join(' AND ')})` : '1';
  });
  return `(${alternatives.join(' OR ')})`;
}

/** Returns the words and the "phrases" of a text. */
function partsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]+)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}
