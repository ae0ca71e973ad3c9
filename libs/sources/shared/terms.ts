import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';

/**
 * Returns the alternatives of a search, each with the phrases that must all occur: the query and one term, only the
 * term, or only the query. Terms that differ only in case count once. Empty if the search has neither query nor terms.
 */
export function alternativesOf(criteria: Criteria): string[][] {
  const query = criteria.query?.trim() ?? '';
  const terms = unique(criteria.terms.map((term) => term.trim()).filter((term) => term !== ''));
  const front = query === '' ? [] : [query];
  if (terms.length === 0) return front.length === 0 ? [] : [front];
  return terms.map((term) => [...front, term]);
}

/** Returns the fault of a search without query and terms, on a source that requires one. */
export function faultsWithoutTerms(source: string, criteria: Criteria): Fault[] {
  if (alternativesOf(criteria).length > 0) return [];
  return [{ path: 'query', message: `a search on ${source} needs a query or terms` }];
}

/** Returns the phrase in quotes. Spaces replace quotes inside the phrase, because upstreams have no escape for them. */
export function quoted(phrase: string): string {
  return `"${phrase
    .replace(/["\u201c\u201d]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()}"`;
}

/** Adds quotes, unless the phrase is one word of letters and digits that upstreams do not read as an operator. */
export function quotedIfNeeded(phrase: string): string {
  return /^[\p{L}\p{N}]+$/u.test(phrase) && !/^(AND|OR|NOT)$/.test(phrase) ? phrase : quoted(phrase);
}

function unique(terms: readonly string[]): string[] {
  const seen = new Map(terms.map((term) => [term.toLowerCase(), term] as const).reverse());
  return [...seen.values()].reverse();
}
