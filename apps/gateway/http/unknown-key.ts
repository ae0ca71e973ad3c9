import { closest, distance } from 'fastest-levenshtein';

/** A slip of the keyboard, not another word. */
const MOST_SLIPS = 2;
/** No key of the interface is longer. */
const LONGEST_KEY = 64;

/** The known key in what is said. */
export const MEANT = /(?<=; did you mean )\w+(?=\?$)/;

/** What is said of a key (or parameter: `what`) that nobody reads, with the known one that was meant, if there is one so near. */
export function unknownKey(key: string, known: readonly string[], what = 'key'): string {
  const nearest = known.length > 0 && key.length <= LONGEST_KEY ? closest(key, [...known]) : '';
  const isNear = key.length > MOST_SLIPS && distance(key, nearest) <= MOST_SLIPS;
  return `is not a known ${what}${isNear ? `; did you mean ${nearest}?` : ''}`;
}
