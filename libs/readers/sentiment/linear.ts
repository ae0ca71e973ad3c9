/** Numbers for negative, neutral and positive: log-probabilities, or probabilities after `probabilities`. */
export type Mood = readonly [number, number, number];

/** Rows of three weights (negative, neutral, positive). They are small integers that are multiplied by one scale. */
export interface LinearModel {
  rows: Int8Array;
  scale: number;
  /** Three weights for each figure, then three biases. */
  dense: Float32Array;
}

/** Groups of hashed features. Each group has about the same influence, even if it has many features. */
export type Groups = readonly { buckets: Uint32Array; from: number }[];

/** Returns log-probabilities of the three classes. */
export function linearMood({ rows, scale, dense }: LinearModel, groups: Groups, figures: Float32Array): Mood {
  const bias = figures.length * 3;
  let [negative, neutral, positive] = [dense[bias] ?? 0, dense[bias + 1] ?? 0, dense[bias + 2] ?? 0];
  for (const { buckets, from } of groups) {
    let [a, b, c] = [0, 0, 0];
    for (const bucket of buckets) {
      const row = (from + bucket) * 3;
      a += rows[row] as number;
      b += rows[row + 1] as number;
      c += rows[row + 2] as number;
    }
    const weight = buckets.length > 0 ? scale / Math.sqrt(buckets.length) : 0;
    negative += a * weight;
    neutral += b * weight;
    positive += c * weight;
  }
  for (let n = 0; n < figures.length; n++) {
    const figure = figures[n] ?? 0;
    negative += figure * (dense[n * 3] ?? 0);
    neutral += figure * (dense[n * 3 + 1] ?? 0);
    positive += figure * (dense[n * 3 + 2] ?? 0);
  }
  return logSoftmax([negative, neutral, positive]);
}

/** Computes log-probabilities from sums of weights. */
export function logSoftmax([a, b, c]: Mood): Mood {
  const max = Math.max(a, b, c);
  const log = max + Math.log(Math.exp(a - max) + Math.exp(b - max) + Math.exp(c - max));
  return [a - log, b - log, c - log];
}

/** Returns the weighted geometric mean of two moods (log-probabilities). `weight` is the weight of the second mood. */
export function mixedMood(one: Mood, other: Mood, weight: number): Mood {
  const mix = (at: 0 | 1 | 2) => one[at] * (1 - weight) + other[at] * weight;
  return logSoftmax([mix(0), mix(1), mix(2)]);
}

/** Computes probabilities from log-probabilities. */
export function probabilities(mood: Mood): Mood {
  return [Math.exp(mood[0]), Math.exp(mood[1]), Math.exp(mood[2])];
}
