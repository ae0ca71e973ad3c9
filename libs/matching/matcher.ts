import { DEFAULT_MATCH_MODE, MATCH_MODES } from '#contracts';
import type { Criteria, MatchMode } from '#contracts';
import { addressesIn, touchesAddress } from './addresses.js';
import type { AddressSpan } from './addresses.js';
import { Folder } from './fold.js';
import { SubstringIndex } from './substring-index.js';
import { foldTerm, isInvisible } from './term.js';
import { WordIndex } from './word-index.js';

/**
 * The terms of one search. The search requires the query and any one of the terms. A query or a term that is empty or
 * has only spaces is ignored. A search with neither a query nor terms matches every post, and so does every search in
 * mode `platform`. In every mode, a search matches no post if its query, or each of its terms, has only invisible
 * characters.
 */
export interface SearchTerms {
  /** The caller's name for the search. */
  key: string;
  mode: MatchMode;
  query?: string | undefined;
  terms: readonly string[];
}

/** The two fields that are searched for terms. */
export interface MatchableText {
  title: string;
  text: string;
  /**
   * True if the title is the title of the parent post. Only searches in mode `platform` search such a title for terms.
   */
  titleOfParent?: boolean;
}

/** Position of a found term: UTF-16 code units of the original field, `end` exclusive. */
export interface FoundTerm {
  /** In the spelling of the search. */
  term: string;
  field: 'title' | 'text';
  start: number;
  end: number;
}

/** A search that a post matches. */
export interface SearchMatch {
  key: string;
  /** Ordered by field (title first), then by position. Empty only if the search requires neither a query nor a term. */
  matches: FoundTerm[];
}

/** Finds out which of many searches a post matches. */
export interface Matcher {
  /** Returns the searches that the post matches, in the given order. */
  match(post: MatchableText): SearchMatch[];
}

/**
 * Maximum number of reported positions of one term in one field. More repetitions of a word give no further
 * information.
 */
export const MAX_PLACES_PER_TERM = 100;

/**
 * Maximum number of reported positions of one search in one post, except that the first position of each term in each
 * field is always reported.
 */
export const MAX_PLACES_PER_SEARCH = 500;

/**
 * Compiles searches into at most two indexes, one of words and one of substrings. A post is read once for each index,
 * for any number of terms.
 */
export function compile(searches: readonly SearchTerms[]): Matcher {
  return new IndexedMatcher(searches);
}

/** Returns the terms of a search with these criteria. If the criteria have no known mode, the default mode is used. */
export function searchTermsOf(
  key: string,
  criteria: Pick<Criteria, 'match' | 'query' | 'terms'>,
): SearchTerms {
  const mode = MATCH_MODES.find((known) => known === criteria.match) ?? DEFAULT_MATCH_MODE;
  return { key, mode, query: criteria.query, terms: criteria.terms };
}

/** One distinct folded term in one index, and the searches that use it. */
interface Entry {
  folded: string;
  /** True if the term contains a dot or a slash: only such a term is found inside an address. */
  inAddresses: boolean;
  uses: { search: number; term: string; isQuery: boolean }[];
}

/** The state of one search while one post is read. */
interface Progress {
  query: boolean;
  term: boolean;
  matches: FoundTerm[];
}

class IndexedMatcher implements Matcher {
  private readonly keys: string[];
  /** For each search, by its number: whether the query and one of the terms must be found. */
  private readonly needs: { query: boolean; term: boolean }[];
  /** Searches that match every post. */
  private readonly always: number[] = [];
  /** Searches in mode `platform`. */
  private readonly platformSearches = new Set<number>();
  private readonly indexes: { index: WordIndex | SubstringIndex; entries: Entry[] }[] = [];
  private readonly folder = new Folder();

  constructor(searches: readonly SearchTerms[]) {
    this.keys = searches.map(({ key }) => key);
    this.needs = new Array<{ query: boolean; term: boolean }>(searches.length);
    const words = new Map<string, Entry>();
    const substrings = new Map<string, Entry>();
    searches.forEach((search, number) => {
      this.addSearch(search, number, search.mode === 'word' ? words : substrings);
    });
    const foldedOf = (entries: Entry[]) => entries.map(({ folded }) => folded);
    if (words.size > 0) {
      const entries = [...words.values()];
      this.indexes.push({ index: new WordIndex(foldedOf(entries)), entries });
    }
    if (substrings.size > 0) {
      const entries = [...substrings.values()];
      this.indexes.push({ index: new SubstringIndex(foldedOf(entries)), entries });
    }
  }

  match(post: MatchableText): SearchMatch[] {
    const progress = new Map<number, Progress>();
    for (const search of this.always) progress.set(search, { query: false, term: false, matches: [] });
    this.searchField('title', post.title, progress, post.titleOfParent ? this.platformSearches : undefined);
    this.searchField('text', post.text, progress);
    const matched: SearchMatch[] = [];
    for (const search of [...progress.keys()].sort((a, b) => a - b)) {
      const { query, term, matches } = progress.get(search)!;
      const needs = this.needs[search]!;
      if ((needs.query && !query) || (needs.term && !term)) continue;
      matched.push({ key: this.keys[search]!, matches: matches.sort(byPlace) });
    }
    return matched;
  }

  private addSearch(search: SearchTerms, number: number, entries: Map<string, Entry>): void {
    if (hasOnlyInvisibleTerms(search)) return;
    const added = new Set<string>();
    const addTerm = (term: string, isQuery: boolean): boolean => {
      // People put phrases in quotes, as in search boxes. `word` searches for the phrase anyway, so the quotes are
      // removed.
      const folded = search.mode === 'word' ? withoutQuotes(foldTerm(term)) : foldTerm(term);
      if (folded === '') return false;
      let entry = entries.get(folded);
      if (!entry) entries.set(folded, (entry = { folded, inAddresses: /[./]/.test(folded), uses: [] }));
      // If the query and a term are the same word, both are required, but the word is reported once.
      entry.uses.push({ search: number, term: added.has(folded) ? '' : term, isQuery });
      added.add(folded);
      return true;
    };
    const query = search.query !== undefined && addTerm(search.query, true);
    let term = false;
    for (const each of search.terms) if (addTerm(each, false)) term = true;
    const matchesEvery = search.mode === 'platform' || !(query || term);
    if (search.mode === 'platform') this.platformSearches.add(number);
    this.needs[number] = matchesEvery ? { query: false, term: false } : { query, term };
    if (matchesEvery) this.always.push(number);
  }

  /**
   * Records the positions of terms in a field.
   * @param only the searches for which the positions count; default: all
   */
  private searchField(
    field: FoundTerm['field'],
    original: string,
    progress: Map<number, Progress>,
    only?: ReadonlySet<number>,
  ): void {
    if (original === '' || this.indexes.length === 0 || only?.size === 0) return;
    const text = this.folder.fold(original);
    // Most posts contain no term, so the addresses in a text are located only after a term is found.
    let addresses: AddressSpan[] | undefined;
    for (const { index, entries } of this.indexes) {
      let places: Map<number, { count: number; lastEnd: number }> | undefined;
      index.search(text, (number, from, to) => {
        let place = places?.get(number);
        // Of overlapping positions, only the first counts. Positions after the maximum are ignored.
        if (place && (from < place.lastEnd || place.count === MAX_PLACES_PER_TERM)) return;
        const entry = entries[number]!;
        const start = text.starts[from]!;
        const end = text.ends[to - 1]!;
        if (!entry.inAddresses) {
          addresses ??= addressesIn(original);
          if (touchesAddress(addresses, start, end)) return;
        }
        if (!place) (places ??= new Map()).set(number, (place = { count: 0, lastEnd: 0 }));
        place.count += 1;
        place.lastEnd = to;
        report(entry, { field, start, end, isFirst: place.count === 1 }, progress, only);
      });
    }
  }
}

/**
 * Returns true if the query or all terms have only invisible characters. Earlier releases stored such searches. A
 * search like this matches no post.
 */
function hasOnlyInvisibleTerms({ query = '', terms }: SearchTerms): boolean {
  return isInvisible(query) || (terms.some(isInvisible) && terms.every((term) => foldTerm(term) === ''));
}

function withoutQuotes(term: string): string {
  const quoted = term.length > 2 && term.startsWith('"') && term.endsWith('"');
  // If only spaces are between the quotes, the quotes are the term. An empty term would be ignored, and the search would
  // match every post.
  return (quoted && term.slice(1, -1).trim()) || term;
}

function report(
  entry: Entry,
  { isFirst, ...place }: Omit<FoundTerm, 'term'> & { isFirst: boolean },
  progress: Map<number, Progress>,
  only?: ReadonlySet<number>,
): void {
  for (const { search, term, isQuery } of entry.uses) {
    if (only && !only.has(search)) continue;
    let known = progress.get(search);
    if (!known) progress.set(search, (known = { query: false, term: false, matches: [] }));
    if (isQuery) known.query = true;
    else known.term = true;
    const isReported = isFirst || known.matches.length < MAX_PLACES_PER_SEARCH;
    if (term !== '' && isReported) known.matches.push({ term, ...place });
  }
}

function byPlace(a: FoundTerm, b: FoundTerm): number {
  if (a.field !== b.field) return a.field === 'title' ? -1 : 1;
  return a.start - b.start || b.end - a.end;
}
