import { wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { factsOf } from './listings.js';
import type { Facts, CatalogSite } from './listings.js';
import { centsOf } from './prices.js';

/** Maximum number of listings of any search, on all its pages together. */
const MAX_LISTINGS = 960;
/** Distance between the places of two promoted listings, if there are enough other listings. */
const PROMOTED_EVERY = 24;
/** Place of the first promoted listing; the first place of the list is 0. */
const FIRST_PROMOTED = 3;

const IDS: Readonly<Record<string, (facts: Facts) => number>> = {
  brand_ids: ({ brand }) => brand.id,
  size_ids: ({ size }) => size.id,
  status_ids: ({ condition }) => condition.id,
  catalog_ids: ({ catalogId }) => catalogId,
  color_ids: ({ colorId }) => colorId,
};

/** The parameters of a search of the catalogue: returns all values of a parameter. */
export type CatalogQuery = (key: string) => readonly string[];

/** Returns at most `MAX_LISTINGS` listings of a search in the requested order, with promoted listings in between. */
export function searchCatalog(
  posts: readonly SimPost[],
  query: CatalogQuery,
  catalog: CatalogSite,
): SimPost[] {
  const [words, ids] = [wordsOf(query('search_text')[0] ?? ''), idTests(query)];
  const [from = 0, to = Infinity] = [query('price_from')[0], query('price_to')[0]].map(boundOf);
  const until = boundOf(query('time')[0]) ?? Infinity;
  const placed: SimPost[] = [];
  const promoted: SimPost[] = [];
  for (let i = posts.length - 1; i >= 0; i--) {
    const post = posts[i]!;
    // Listings that are published after the first page was read do not shift the later pages.
    if (Math.floor(post.publishedAt / 1000) > until) continue;
    const price = centsOf(post, catalog) / 100;
    if (price < from || price > to || !containsAll(post, words)) continue;
    if (ids.length > 0 && !fulfilsAll(factsOf(post), ids)) continue;
    (post.promoted ? promoted : placed).push(post);
  }
  return withPromoted(inOrder(placed, query('order')[0], catalog), promoted).slice(0, MAX_LISTINGS);
}

/** Returns true if each word is in the title, the seller's text or the brand. */
function containsAll(post: SimPost, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { title, text } = wordsOfPost(post);
  const brand = wordsOf(factsOf(post).brand.title);
  return words.every((word) => title.includes(word) || text.includes(word) || brand.includes(word));
}

function idTests(query: CatalogQuery): ((facts: Facts) => boolean)[] {
  return Object.entries(IDS).flatMap(([key, idOf]) => {
    const asked = [...query(key), ...query(`${key}[]`)].flatMap((ids) => ids.split(',')).filter(Boolean);
    const wanted = new Set(asked.map(Number));
    return wanted.size === 0 ? [] : [(facts: Facts) => wanted.has(idOf(facts))];
  });
}

function fulfilsAll(facts: Facts, tests: readonly ((facts: Facts) => boolean)[]): boolean {
  return tests.every((test) => test(facts));
}

/** @param placed newest first */
function inOrder(placed: SimPost[], order: string | undefined, catalog: CatalogSite): SimPost[] {
  switch (order) {
    case 'newest_first':
      return placed;
    case 'price_low_to_high':
      return placed.sort((a, b) => centsOf(a, catalog) - centsOf(b, catalog));
    case 'price_high_to_low':
      return placed.sort((a, b) => centsOf(b, catalog) - centsOf(a, catalog));
    default:
      return placed.sort((a, b) => b.score - a.score);
  }
}

function withPromoted(placed: readonly SimPost[], promoted: readonly SimPost[]): SimPost[] {
  const listings = [...placed];
  promoted.forEach((post, n) =>
    listings.splice(Math.min(FIRST_PROMOTED + n * PROMOTED_EVERY, listings.length), 0, post),
  );
  return listings;
}

function boundOf(text: string | undefined): number | undefined {
  const bound = Number(text || NaN);
  return Number.isNaN(bound) ? undefined : bound;
}
