import type { KeywordBody, Source } from '../../api/types.js';
import { beginningOf } from '../../parts/format.js';

/** The data that the steps collect. */
export interface Plan {
  brand: string;
  terms: string[];
  sources: Source[];
  feedUrls: string[];
  intervalSeconds: number;
}

/** The plan before the first step. */
export const NO_PLAN: Plan = { brand: '', terms: [], sources: [], feedUrls: [], intervalSeconds: 600 };

const MAX_TERM_LENGTH = 60;

/**
 * Returns usual spellings of a brand: unchanged, in one word, and as a hashtag if this word has more than three
 * characters. For “Acme Rocket”, returns Acme Rocket, AcmeRocket and #AcmeRocket. For an address or a domain, returns the
 * domain, and the spellings of its first part.
 */
export function suggestedTerms(brand: string): string[] {
  const name = brand.trim().replace(/\s+/g, ' ');
  if (name === '') return [];
  const bare = name
    .replace(/^https?:\/\//i, '')
    .replace(/^www\./i, '')
    .replace(/\/.*$/, '');
  const isDomain = /^[\w-]+(\.[\w-]+)+$/.test(bare);
  const base = isDomain ? bare.slice(0, bare.indexOf('.')) : name;
  const joined = base.replace(/[\s-]+/g, '');
  const spellings = [...(isDomain ? [bare] : []), base, joined, ...(joined.length > 3 ? [`#${joined}`] : [])];
  const seen = new Set<string>();
  return spellings.filter((term) => {
    const folded = term.toLowerCase();
    return term.length <= MAX_TERM_LENGTH && !seen.has(folded) && seen.add(folded);
  });
}

/**
 * Returns the body of the keyword. A single term becomes the query, because `terms` must contain at least two terms.
 */
export function bodyOfPlan({ brand, terms, sources, feedUrls, intervalSeconds }: Plan): KeywordBody {
  const [first = brand] = terms;
  return {
    name: beginningOf(brand.trim(), 80),
    refreshIntervalSeconds: intervalSeconds,
    globalCriteria: { market: 'global', match: 'word', ...(terms.length > 1 ? { terms } : { query: first }) },
    sources: sources.map((source) => ({
      source,
      enabled: true,
      ...(source === 'rss' && {
        searches: [{ overridesEnabled: true, overrides: { filters: { feed_urls: feedUrls } } }],
      }),
    })),
    sentimentEnabled: true,
    backfill: true,
  };
}
