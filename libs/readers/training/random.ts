/** Returns a generator of random numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mix = Math.imul(state ^ (state >>> 15), state | 1);
    mix ^= mix + Math.imul(mix ^ (mix >>> 7), mix | 61);
    return ((mix ^ (mix >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Shuffles the array in place. */
export function shuffle(values: Uint32Array, random: () => number): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const held = values[last] as number;
    values[last] = values[other] as number;
    values[other] = held;
  }
}
