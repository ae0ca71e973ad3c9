import entries from './homonyms.json' with { type: 'json' };

/** A name of a company that also has other meanings. */
export interface Homonym {
  /** Words that are frequent near the name of the company. */
  company: ReadonlySet<string>;
  /** The other meanings, with words that are frequent near them. */
  others: readonly { thing: string; words: ReadonlySet<string> }[];
}

/** Names in lower case that often have another meaning. For other names only the general signals are used. */
export const HOMONYMS: ReadonlyMap<string, Homonym> = new Map(
  Object.entries(entries).map(([name, { company, others }]) => [
    name,
    {
      company: wordsOf(company),
      others: Object.entries(others).map(([thing, words]) => ({ thing, words: wordsOf(words) })),
    },
  ]),
);

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}
