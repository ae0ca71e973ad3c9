import type { ReadSubject } from '../reading.js';
import { searchableNames } from '../text/names.js';
import { readAbout, type About } from './about.js';
import { FIRST_NAMES } from './first-names.js';
import { HOMONYMS, type Homonym } from './homonyms.js';

/** The subject of a keyword, prepared for relevance. */
export interface RelevanceSubject {
  /** The names in the form that is searched for: lower case, longest first. */
  names: readonly string[];
  about: About | undefined;
  /** The entry in `HOMONYMS` of the first name that has an entry. */
  homonym: Homonym | undefined;
  /**
   * Returns true if the name is a known homonym, an ordinary word or a first name. Then the name alone does not show
   * that a text names the subject.
   */
  ordinary(name: string): boolean;
}

/** @param words ordinary words of English, lower case */
export function relevanceSubject(
  { names, about }: ReadSubject,
  words: ReadonlySet<string>,
): RelevanceSubject {
  const searchable = searchableNames(names);
  const known = searchable.find((name) => HOMONYMS.has(name));
  return {
    names: searchable,
    about: readAbout(about),
    homonym: known === undefined ? undefined : HOMONYMS.get(known),
    ordinary: (name) => HOMONYMS.has(name) || words.has(name) || FIRST_NAMES.has(name),
  };
}
