import entries from './homonyms.json' with { type: 'json' };

/** A name that companies share with ordinary things. */
export interface Homonym {
  /** Words that are frequent beside the company. */
  company: ReadonlySet<string>;
  /** The other things, with words that are frequent beside them. */
  others: readonly { thing: string; words: ReadonlySet<string> }[];
}

/** Names that often mean something else, in lower case. Other names are judged by the general signals only. */
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
