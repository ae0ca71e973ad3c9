/** Maximum number of words of a text that the search uses. */
const MAX_WORDS = 256;
/** A longer text is cut before it is split into words. */
const MAX_CHARACTERS = 16_384;

/** Scripts without spaces between words. In these, each pair of neighbouring characters counts as a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]*/gu;

/** Stop words: words that say nothing about the topic of a text. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be been but by can could did do does for from get had has have he her
  his how i if in into is it its i'm just like me more my no not of on or our out she should so some than that the their
  them then there these they this to too up us was we were what when where which who why will with would you your`.split(
    /\s+/,
  ),
);

/**
 * Returns the words by which a search finds a text, as 32-bit hashes without duplicates. Texts are compared by the
 * hashes alone, so no word needs to be stored.
 */
export function searchWords(text: string): number[] {
  return [...new Set(Array.from(searchTerms(text), hashOf))];
}

/** Returns the words of a text without duplicates, in lower case, in the singular, without stop words. */
export function searchTerms(text: string): Set<string> {
  const found = new Set<string>();
  const folded = text.slice(0, MAX_CHARACTERS).toWellFormed().normalize('NFKC').toLowerCase();
  for (const [match] of folded.matchAll(WORDS)) {
    const given = match.replaceAll('’', "'").replace(/'s?$/, '');
    if (STOP_WORDS.has(given)) continue;
    for (const word of partsOf(given)) {
      if (found.size >= MAX_WORDS) return found;
      if (!STOP_WORDS.has(word)) found.add(word);
    }
  }
  return found;
}

function partsOf(word: string): string[] {
  if (!UNSPACED.test(word)) return [singular(word)];
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, n) => `${characters[n]}${character}`);
}

/** Returns the singular of an English plural. Some other words that end in s lose this letter too. */
function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Returns the FNV-1a hash of a word. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < word.length; n += 1) hash = Math.imul(hash ^ word.charCodeAt(n), 0x01000193);
  return hash >>> 0;
}
