import { hasPhrase, readQuery, typosBetween, wordsOf } from '../../world/search-text.js';
import type { Clause } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';

/** A found post, and the words that matched, for `_highlightResult`. */
export interface Hit {
  post: SimPost;
  matchedWords: string[];
}

/** Reads `tags`: a comma is AND, but inside parentheses it is OR. */
export function tagFilter(tags: string | undefined): (own: readonly string[]) => boolean {
  const groups = (tags ?? '').match(/\([^)]*\)|[^,()]+/g) ?? [];
  const wanted = groups.map((group) => group.replace(/[()]/g, '').split(',').filter(Boolean));
  return (own) => wanted.every((any) => any.length === 0 || any.some((tag) => own.includes(tag)));
}

/** Reads `numericFilters` (`created_at_i>1700000000,points>=5`). Returns undefined if a condition is not valid. */
export function numericFilter(
  filters: readonly string[],
): ((value: (attribute: string) => number | undefined) => boolean) | undefined {
  const conditions: ((value: (attribute: string) => number | undefined) => boolean)[] = [];
  for (const filter of filters.join(',').split(',').filter(Boolean)) {
    const parts = /^\s*(created_at_i|points|num_comments)\s*(<=|>=|!=|<|>|=)\s*(-?\d+(?:\.\d+)?)\s*$/.exec(
      filter,
    );
    if (!parts) return undefined;
    const [, attribute = '', operator = '', limit = ''] = parts;
    conditions.push((value) => compares(value(attribute), operator, Number(limit)));
  }
  return (value) => conditions.every((condition) => condition(value));
}

/**
 * Returns a function that returns the words of `query` that match a post, or undefined if the query does not find the
 * post. All words that are not optional must match. If there are optional words, at least one word must match. Excluded
 * words must not match. `prefixLast`: the last word can match as a prefix. `typos`: typos are tolerated as in Algolia.
 */
export function textMatcher(
  query: string,
  options: { typos: boolean; prefixLast: boolean; optional: readonly string[] },
): (attributes: readonly (readonly string[])[]) => string[] | undefined {
  const clauses = readQuery(query);
  const last = clauses.findLast((clause) => !clause.excluded);
  const optional = new Set(options.optional.flatMap(wordsOf));
  return (texts) => {
    const matched = new Set<string>();
    let isEnough = optional.size === 0;
    for (const clause of clauses) {
      const found = texts.some((text) =>
        matches(clause, text, options.typos, options.prefixLast && clause === last),
      );
      if (clause.excluded) {
        if (found) return undefined;
      } else if (found) {
        clause.words.forEach((word) => matched.add(word));
        isEnough = true;
      } else if (!clause.words.every((word) => optional.has(word))) {
        return undefined;
      }
    }
    return isEnough ? [...matched] : undefined;
  };
}

function matches(clause: Clause, text: readonly string[], typos: boolean, prefix: boolean): boolean {
  if (clause.phrase || clause.excluded) return hasPhrase(text, clause.words);
  const [word = ''] = clause.words;
  // Algolia's defaults: one typo in words of 4 to 7 characters, two typos in longer words, none in the first letter.
  const allowed = !typos || word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  return text.some((other) => {
    if (other[0] !== word[0]) return false;
    if (other === word || (prefix && other.startsWith(word))) return true;
    if (allowed === 0) return false;
    if (typosBetween(word, other) <= allowed) return true;
    return prefix && other.length > word.length && typosBetween(word, other.slice(0, word.length)) <= allowed;
  });
}

function compares(value: number | undefined, operator: string, limit: number): boolean {
  if (value === undefined) return false;
  if (operator === '<') return value < limit;
  if (operator === '<=') return value <= limit;
  if (operator === '>') return value > limit;
  if (operator === '>=') return value >= limit;
  return operator === '!=' ? value !== limit : value === limit;
}
