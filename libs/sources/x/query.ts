import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort, faultsOfTexts, filterOf, filterTexts, sortOf } from '../shared/filters.js';
import { alternativesOf, quoted, quotedIfNeeded } from '../shared/terms.js';

/** Maximum number of characters of one query. Enterprise contracts allow more, but Earshot does not need more. */
const MAX_QUERY_LENGTH = 512;
/** The form of possible names. X answers 400 to any other name. */
const HANDLE = /^[A-Za-z0-9_]{1,15}$/;
const SORTS = ['recency', 'relevancy'];
const EXCLUDABLE = ['replies', 'quotes'];
const ATTACHABLE = ['images', 'videos', 'media', 'links', 'hashtags', 'mentions'];

/** Returns the account's name without its @; undefined if it is not a possible name. */
export function handleOf(text: string): string | undefined {
  const name = text.trim().replace(/^@/, '');
  return HANDLE.test(name) ? name : undefined;
}

/** True if the search asks for the most relevant tweets first, and not for the newest. */
export function isByRelevancy(criteria: Criteria): boolean {
  return sortOf(criteria) === 'relevancy';
}

/** Returns a fault for each part of the criteria that X does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [...faultsOfFilters(criteria), ...faultsOfSort('x', criteria, SORTS)];
  const { repliesTo } = criteria;
  if (repliesTo && handleOf(repliesTo) === undefined) {
    faults.push({ path: 'repliesTo', message: `"${repliesTo}" is not the name of an account on x` });
  }
  const match = criteria.match === 'platform' ? 'platform' : 'word';
  const { front, terms } = partsOf(criteria, match);
  if (front === '' && terms.length === 0 && !repliesTo && filterTexts(criteria, 'from').length === 0) {
    faults.push({ path: 'query', message: 'a search on x needs a query, terms, repliesTo or filters.from' });
  }
  if (front === '""' || terms.includes('""')) {
    faults.push({
      path: front === '""' ? 'query' : 'terms',
      message: 'contains nothing that x can search for',
    });
  }
  const longest = queriesOf(criteria, match).find((query) => query.length > MAX_QUERY_LENGTH);
  if (longest !== undefined) {
    const message = `x takes at most ${MAX_QUERY_LENGTH} characters for the query, one term and the filters; these are ${longest.length}`;
    faults.push({ path: 'query', message });
  }
  return faults;
}

/**
 * Returns the queries of a search. Each contains the query, as many terms joined by OR as the length limit allows, and
 * the filters. Empty if the search has no query, terms, filters or `repliesTo`.
 */
export function queriesOf(criteria: Criteria, match: MatchMode): string[] {
  const { front, terms, limits } = partsOf(criteria, match);
  if (front === '' && terms.length === 0 && limits.length === 1) return [];
  if (terms.length === 0) return [joined(front, [], limits)];
  const queries: string[] = [];
  let group: string[] = [];
  for (const term of terms) {
    if (group.length > 0 && joined(front, [...group, term], limits).length > MAX_QUERY_LENGTH) {
      queries.push(joined(front, group, limits));
      group = [];
    }
    group.push(term);
  }
  return [...queries, joined(front, group, limits)];
}

interface QueryParts {
  front: string;
  terms: string[];
  /** Conditions that are added with AND: accounts, languages, kinds. The last condition excludes retweets. */
  limits: string[];
}

function partsOf(criteria: Criteria, match: MatchMode): QueryParts {
  const written = match === 'platform' ? asWritten : asText;
  const query = criteria.query?.trim() ?? '';
  const front = query === '' ? '' : written(query);
  const terms = alternativesOf(criteria).flatMap((phrases) => phrases.slice(query === '' ? 0 : 1));
  return { front, terms: terms.map(written), limits: limitsOf(criteria) };
}

function limitsOf(criteria: Criteria): string[] {
  const repliesTo = handleOf(criteria.repliesTo ?? '');
  const from = filterTexts(criteria, 'from').map((name) => `from:${handleOf(name)}`);
  const langs = filterTexts(criteria, 'lang').map((lang) => `lang:${lang}`);
  const has = filterTexts(criteria, 'has').map((what) => `has:${what}`);
  const excluded = filterTexts(criteria, 'exclude').map((what) => `-is:${singular(what)}`);
  return [
    ...(repliesTo === undefined ? [] : [`to:${repliesTo}`]),
    ...anyOf(from),
    ...anyOf(langs),
    ...anyOf(has),
    ...(filterOf(criteria, 'verified') === true ? ['is:verified'] : []),
    ...excluded,
    // A retweet only repeats another tweet, and the search also finds that tweet. (Since 2026-05-04 X does not return
    // retweets anyway.)
    '-is:retweet',
  ];
}

function faultsOfFilters(criteria: Criteria): Fault[] {
  const oneOf = (among: readonly string[]) => ({
    wanted: `one of ${among.join(', ')}, or a list of them`,
    valid: (text: string) => among.includes(text),
  });
  const verified = filterOf(criteria, 'verified');
  return [
    ...faultsOfTexts(criteria, {
      key: 'lang',
      wanted: 'a language code of x, such as "en", or a list of them',
      valid: (text) => /^[a-z]{2,3}(-[A-Za-z]{2,4})?$/.test(text),
    }),
    ...faultsOfTexts(criteria, {
      key: 'from',
      wanted: 'the name of an account, or a list of names',
      valid: (text) => handleOf(text) !== undefined,
    }),
    ...faultsOfTexts(criteria, { key: 'has', ...oneOf(ATTACHABLE) }),
    ...faultsOfTexts(criteria, { key: 'exclude', ...oneOf(EXCLUDABLE) }),
    ...(verified === undefined || typeof verified === 'boolean'
      ? []
      : [{ path: 'filters.verified', message: 'must be true or false' }]),
  ];
}

// Operators in the query or in a term are treated as text. Only a query or term that is a whole hashtag or mention is
// passed as an operator, so that it matches only this hashtag or mention.
function asText(phrase: string): string {
  if (/^#[\p{L}\p{N}_]*\p{L}[\p{L}\p{N}_]*$/u.test(phrase)) return phrase;
  if (phrase.startsWith('@') && HANDLE.test(phrase.slice(1))) return phrase;
  // X answers 400 ("Ambiguous use of and as a keyword") to these words without quotes, also in lower case.
  if (/^(and|or|not)$/i.test(phrase)) return quoted(phrase);
  // A backslash would escape the closing quote.
  return quotedIfNeeded(phrase.replaceAll('\\', ' ').trim());
}

// AND has precedence over OR. Without parentheses, the conditions after the query would apply only to its last
// alternative.
function asWritten(query: string): string {
  return /\sOR\s/.test(query) ? `(${query})` : query;
}

function joined(front: string, terms: readonly string[], limits: readonly string[]): string {
  return [...(front === '' ? [] : [front]), ...anyOf(terms), ...limits].join(' ');
}

function anyOf(alternatives: readonly string[]): string[] {
  if (alternatives.length === 0) return [];
  return [alternatives.length === 1 ? (alternatives[0] ?? '') : `(${alternatives.join(' OR ')})`];
}

function singular(what: string): string {
  return what === 'replies' ? 'reply' : 'quote';
}
