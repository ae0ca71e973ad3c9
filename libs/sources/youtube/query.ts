import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { countryOf, faultsOfSort, filterOf, sortOf } from '../shared/filters.js';
import { alternativesOf, quotedIfNeeded } from '../shared/terms.js';

// Maximum length of a query as it is encoded in the address. YouTube documents no limit, but most servers refuse
// addresses of more than about 8,000 characters.
const MAX_QUERY_LENGTH = 4_000;
const SORTS = ['date', 'relevance', 'rating', 'title', 'viewCount'];
const DURATIONS = ['short', 'medium', 'long'];

/** Filters with one text. */
const TEXT_FILTERS = [
  {
    key: 'channel_id',
    wanted: 'the id of a channel: "UC" and 22 more characters',
    valid: (text: string) => /^UC[\w-]{22}$/.test(text),
  },
  {
    key: 'lang',
    wanted: 'a language of two letters, such as "en", or zh-Hans or zh-Hant',
    valid: (text: string) => /^([a-z]{2}|zh-Han[st])$/.test(text),
  },
  {
    key: 'duration',
    wanted: `one of ${DURATIONS.join(', ')}`,
    valid: (text: string) => DURATIONS.includes(text),
  },
];

/** Returns a fault for each part of the criteria that YouTube does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [
    ...TEXT_FILTERS.flatMap(({ key, wanted, valid }) => {
      const value = filterOf(criteria, key);
      const fits = value === undefined || (typeof value === 'string' && valid(value.trim()));
      return fits ? [] : [{ path: `filters.${key}`, message: `must be ${wanted}` }];
    }),
    ...faultsOfSort('youtube', criteria, SORTS),
  ];
  if (alternativesOf(criteria).length === 0 && filterOf(criteria, 'channel_id') === undefined) {
    const message = 'a search on youtube needs a query, terms or filters.channel_id';
    faults.push({ path: 'query', message });
  }
  if (queriesOf(criteria, 'word').some((query) => encodedLength(query) > MAX_QUERY_LENGTH)) {
    faults.push({ path: 'query', message: 'is longer than the query that youtube accepts' });
  }
  return faults;
}

/** True if the newest videos come first. In any other order, known videos can appear anywhere. */
export function isByDate(criteria: Criteria): boolean {
  return (sortOf(criteria) ?? 'date') === 'date';
}

/**
 * Returns the `q` of each request of a search. It is undefined if the search asks for all videos of a channel. No
 * parentheses are needed: a space means AND, and `|` has precedence over the space.
 */
export function queriesOf(criteria: Criteria, match: MatchMode): (string | undefined)[] {
  const written = (phrase: string) => (match === 'platform' ? phrase : quotedIfNeeded(phrase));
  const query = criteria.query?.trim() ?? '';
  const front = query === '' ? [] : [written(query)];
  const terms = alternativesOf(criteria)
    .flatMap((phrases) => phrases.slice(front.length))
    .map(written);
  if (terms.length === 0) return [front[0]];
  const queries: string[] = [];
  let group: string[] = [];
  const joined = () => [...front, group.join('|')].join(' ');
  for (const term of terms) {
    group.push(term);
    if (group.length > 1 && encodedLength(joined()) > MAX_QUERY_LENGTH) {
      group.pop();
      queries.push(joined());
      group = [term];
    }
  }
  return [...queries, joined()];
}

/** Returns the parameters of a request, except the words, with YouTube's names. */
export function limitsOf(criteria: Criteria): Record<string, string> {
  const country = countryOf(criteria);
  const text = (key: string) => {
    const value = filterOf(criteria, key);
    return typeof value === 'string' ? value.trim() : undefined;
  };
  const [channelId, lang, duration] = ['channel_id', 'lang', 'duration'].map(text);
  return {
    order: sortOf(criteria) ?? 'date',
    ...(country !== undefined && { regionCode: country }),
    ...(lang !== undefined && { relevanceLanguage: lang }),
    ...(channelId !== undefined && { channelId }),
    ...(duration !== undefined && { videoDuration: duration }),
  };
}

function encodedLength(query: string | undefined): number {
  return encodeURIComponent(query ?? '').length;
}
