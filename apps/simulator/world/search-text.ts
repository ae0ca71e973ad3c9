/**
 * Returns the words of a text as upstreams search them: in lower case, without the accents of Latin letters; in Chinese
 * and Japanese, each character is a word.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/(?<=[\p{Script=Latin}])\p{Mn}+/gu, '')
    .toLowerCase();
  return plain.match(/[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]|[\p{L}\p{N}\p{M}_]+/gu) ?? [];
}

interface Words {
  title: string[];
  text: string[];
}

const known = new WeakMap<object, Words & { of: { title: string; text: string } }>();

/** Returns the words of a post. Keeps them until the post is edited, because every search reads them. */
export function wordsOfPost(post: { title: string; text: string }): Words {
  const { title, text } = post;
  let words = known.get(post);
  if (words?.of.title !== title || words.of.text !== text) {
    words = { title: wordsOf(title), text: wordsOf(text), of: { title, text } };
    known.set(post, words);
  }
  return words;
}

/** One part of a query: a word, or the adjacent words of a phrase. */
export interface Clause {
  words: string[];
  phrase: boolean;
  excluded: boolean;
}

/** Reads `rocket "acme rocket" -sled`: required and excluded words and phrases. */
export function readQuery(query: string): Clause[] {
  const clauses: Clause[] = [];
  for (const [, minus = '', phrase, word = ''] of query.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    const words = wordsOf(phrase ?? word);
    // `node.js` without quotes means two adjacent words, like a phrase.
    if (words.length > 0)
      clauses.push({ words, phrase: phrase !== undefined || words.length > 1, excluded: minus === '-' });
  }
  return clauses;
}

/** Returns true if the text contains the words of the phrase next to each other, in this order. */
export function hasPhrase(text: readonly string[], phrase: readonly string[]): boolean {
  for (let at = text.indexOf(phrase[0]!); at >= 0; at = text.indexOf(phrase[0]!, at + 1)) {
    if (phrase.every((word, i) => text[at + i] === word)) return true;
  }
  return false;
}

/** Returns the Damerau-Levenshtein distance up to 2; 3 means more. */
export function typosBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let min = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        min = Math.min(min, before[j - 2]! + 1);
      row.push(min);
    }
    [before, last] = [last, row];
  }
  return Math.min(3, last[b.length]!);
}
