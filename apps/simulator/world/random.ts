/** Returns the next number of a sequence that depends only on its seed: from 0 to 1 (exclusive). */
export type Random = () => number;

/** Returns a generator of numbers (Mulberry32). The same parts of the seed give the same numbers. */
export function seededRandom(...seed: readonly (string | number)[]): Random {
  let state = hashOf(JSON.stringify(seed));
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns one of the values. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

/** Returns a whole number from 0 to `below` (exclusive). */
export function wholeBelow(random: Random, below: number): number {
  return Math.floor(random() * below);
}

/** Returns characters that look random but depend only on the text: for ids, hashes and tokens of the world. */
export function charactersFrom(text: string, alphabet: string, length: number): string {
  const random = seededRandom(text);
  return Array.from({ length }, () => alphabet[wholeBelow(random, alphabet.length)]).join('');
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
