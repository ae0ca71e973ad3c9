import type { MatchableText } from '#matching';

/** A generator of numbers from 0 to 1 (exclusive) that depends only on the seed (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES =
  'ac ba be cor da del en fer gan hal in jo ka lam me nor or pel qui ra sol ta ul ver wex yon zim'.split(' ');
// Names share some syllables with the words of the posts. So an index often finds the beginning of a name in a post,
// but rarely the whole name.
const NAME_SYLLABLES = [
  ...'ax bry dyn fiz glo hux jyn kry lyx nuo oz pho quo rix sny tri vex wyn zon'.split(' '),
  ...SYLLABLES,
];
const CLOSINGS = ['', '', '', 'a', 'o', 's', 'ly', 'er', 'ix', 'on', 'ité', 'ß'];
const COMMON =
  'the to and of a in is it for on that this with my you we are not have as but app new from'.split(' ');
const FOREIGN = ['東京の新しいロケット', 'größer', 'مرحبا', '🚀', 'déjà', 'とても良い', '👍🏽'];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

function word(random: Random, syllables: readonly string[] = SYLLABLES, shortest = 1): string {
  let made = pick(random, syllables);
  for (let more = shortest + Math.floor(random() * 3); more > 0; more--) made += pick(random, syllables);
  return made + pick(random, CLOSINGS);
}

function name(random: Random): string {
  return word(random, NAME_SYLLABLES, 2);
}

/**
 * Returns distinct invented names. Most are one word. Others have several words or punctuation, or begin in another
 * script.
 */
export function makeTerms(random: Random, count: number): string[] {
  const terms = new Set<string>();
  while (terms.size < count) {
    const kind = random();
    if (kind < 0.6) terms.add(name(random));
    else if (kind < 0.85) terms.add(`${name(random)} ${name(random)}`);
    else if (kind < 0.92) terms.add(`${pick(random, COMMON)} ${name(random)}`);
    else if (kind < 0.96) terms.add(`${name(random)}.${pick(random, ['io', 'js', 'com'])}`);
    else
      terms.add(
        `${pick(random, ['ア', '東', '新', '月'])}${pick(random, ['ク', '京', '光'])}${name(random)}`,
      );
  }
  return [...terms];
}

/** Returns posts of 20 to 79 words. A fifth contain a term, a tenth contain an address or a foreign word. */
export function makePosts(random: Random, count: number, terms: readonly string[]): MatchableText[] {
  const vocabulary = Array.from({ length: 20_000 }, () => word(random));
  return Array.from({ length: count }, () => {
    const words: string[] = [];
    const length = 20 + Math.floor(random() * 60);
    for (let i = 0; i < length; i++) {
      // The fourth power makes a few words frequent, as in any language.
      const rank = Math.floor(random() ** 4 * vocabulary.length);
      words.push(random() < 0.4 ? pick(random, COMMON) : vocabulary[rank]!);
    }
    const place = Math.floor(random() * length);
    const luck = random();
    if (luck < 0.2) words[place] = pick(random, terms);
    else if (luck < 0.25) words[place] = `https://${word(random)}.com/${word(random)}`;
    else if (luck < 0.3) words[place] = pick(random, FOREIGN);
    return { title: '', text: `${words.join(' ')}.` };
  });
}
