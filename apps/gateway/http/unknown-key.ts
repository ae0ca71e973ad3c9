import { closest, distance } from 'fastest-levenshtein';

/** Maximum number of typing errors. A key with more errors is treated as another word. */
const MAX_TYPING_ERRORS = 2;
/** Maximum length of a key for which a key is suggested: no key of the interface is longer. */
const MAX_KEY_LENGTH = 64;

/** Matches the suggested key in a message. */
export const SUGGESTED_KEY = /(?<=; did you mean )\w+(?=\?$)/;

/** Names that other interfaces use for our keys, in lower case without underscores. */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['interval', ['refreshIntervalSeconds']],
  ['intervalseconds', ['refreshIntervalSeconds']],
  ['refreshinterval', ['refreshIntervalSeconds']],
  ['webhook', ['webhookUrl']],
  ['callbackurl', ['webhookUrl']],
  ['criteria', ['globalCriteria']],
  ['keywords', ['terms']],
  ['from', ['since']],
  ['start', ['since']],
  ['after', ['since', 'cursor']],
  ['to', ['until']],
  ['end', ['until']],
  ['before', ['until']],
  ['page', ['cursor']],
  ['offset', ['cursor']],
  ['perpage', ['limit']],
  ['pagesize', ['limit']],
  ['count', ['limit']],
  ['query', ['q']],
  ['search', ['q']],
  ['keywordid', ['keyword']],
  ['queryid', ['keyword']],
  ['sources', ['source']],
  ['language', ['lang']],
  ['username', ['author']],
]);

/**
 * Returns the message for an unknown key, with a suggestion if a known key is similar or has another name in
 * `OTHER_NAMES`.
 * @param what `key` or `parameter`
 */
export function unknownKey(key: string, known: readonly string[], what = 'key'): string {
  const suggestion = known.length > 0 && key.length <= MAX_KEY_LENGTH ? suggestionFor(key, known) : undefined;
  return `is not a known ${what}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`;
}

function suggestionFor(key: string, known: readonly string[]): string | undefined {
  const nearest = closest(key, [...known]);
  if (key.length > MAX_TYPING_ERRORS && distance(key, nearest) <= MAX_TYPING_ERRORS) return nearest;
  const others = OTHER_NAMES.get(key.replaceAll('_', '').toLowerCase());
  return others?.find((name) => known.includes(name));
}
