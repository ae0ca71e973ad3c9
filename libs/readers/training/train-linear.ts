import type { Groups, LinearModel } from '../sentiment/linear.js';
import { seeded, shuffle } from './random.js';

/** A training example: a text with its label. */
export interface Example {
  groups: Groups;
  figures: Float32Array;
  /** 0 negative, 1 neutral, 2 positive. */
  label: number;
  weight: number;
}

/** The settings of a training. */
export interface LinearSettings {
  rows: number;
  epochs: number;
  rate: number;
  l2: number;
  /**
   * A row becomes zero if each of its weights is smaller than this share of the 99.99th percentile of all weights
   * (absolute values).
   */
  prune: number;
}

/**
 * Trains a model by multinomial logistic regression with stochastic gradient descent. The penalty of squared weights
 * (L2) shrinks all weights at each step, by one common factor. The factor is multiplied into the weights only at the end.
 */
export function trainLinear(examples: readonly Example[], settings: LinearSettings): LinearModel {
  const { rows, epochs, rate, l2 } = settings;
  const figures = examples[0]?.figures.length ?? 0;
  const weights = new Float32Array(rows * 3);
  const dense = new Float32Array((figures + 1) * 3);
  const order = Uint32Array.from(examples.keys());
  const random = seeded(1);
  let shrink = 1;
  let step = 0;
  const steps = epochs * examples.length;
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, random);
    for (const at of order) {
      const example = examples[at] as Example;
      const stepSize = rate * (1 - step / steps);
      step += 1;
      const errors = errorsOf(example, weights, shrink, dense);
      shrink *= 1 - stepSize * l2;
      for (const { buckets, from } of example.groups) {
        const change = (stepSize * example.weight) / (Math.sqrt(buckets.length || 1) * shrink);
        for (const bucket of buckets)
          for (let kind = 0; kind < 3; kind++) {
            const row = (from + bucket) * 3 + kind;
            weights[row] = (weights[row] as number) - change * (errors[kind] as number);
          }
      }
      updateDense(dense, example, errors, stepSize * 0.2);
    }
  }
  return quantised(
    weights.map((weight) => weight * shrink),
    dense,
    settings.prune,
  );
}

function updateDense(
  dense: Float32Array,
  { figures, weight }: Example,
  errors: Float32Array,
  stepSize: number,
): void {
  for (let kind = 0; kind < 3; kind++) {
    const change = stepSize * weight * (errors[kind] as number);
    for (let n = 0; n < figures.length; n++)
      dense[n * 3 + kind] = (dense[n * 3 + kind] as number) - change * (figures[n] as number);
    const bias = figures.length * 3 + kind;
    dense[bias] = (dense[bias] as number) - change;
  }
}

/** Returns the error of each class: the probability of the class, minus 1 if the class is the correct one. */
function errorsOf(
  example: Example,
  weights: Float32Array,
  shrink: number,
  dense: Float32Array,
): Float32Array {
  const { groups, figures, label } = example;
  const sums = new Float32Array(3);
  for (let kind = 0; kind < 3; kind++) {
    let sum = dense[figures.length * 3 + kind] as number;
    for (let n = 0; n < figures.length; n++) sum += (figures[n] as number) * (dense[n * 3 + kind] as number);
    for (const { buckets, from } of groups) {
      let part = 0;
      for (const bucket of buckets) part += weights[(from + bucket) * 3 + kind] as number;
      sum += (part * shrink) / Math.sqrt(buckets.length || 1);
    }
    sums[kind] = sum;
  }
  const max = Math.max(...sums);
  let total = 0;
  for (let kind = 0; kind < 3; kind++) total += sums[kind] = Math.exp((sums[kind] as number) - max);
  for (let kind = 0; kind < 3; kind++) sums[kind] = (sums[kind] as number) / total - (kind === label ? 1 : 0);
  return sums;
}

/**
 * Converts weights to integers from -127 to 127. The scale covers 99.99 % of the weights. Larger weights become -127 or
 * 127.
 */
function quantised(weights: Float32Array, dense: Float32Array, prune: number): LinearModel {
  const sizes = weights.map(Math.abs).sort();
  const largest = sizes[Math.floor(sizes.length * 0.9999)] || sizes.at(-1) || 1;
  const scale = largest / 127;
  const rows = new Int8Array(weights.length);
  for (let row = 0; row < weights.length; row += 3) {
    const three = weights.subarray(row, row + 3);
    if (Math.max(...three.map(Math.abs)) < prune * largest) continue;
    for (let kind = 0; kind < 3; kind++)
      rows[row + kind] = Math.max(-127, Math.min(127, Math.round((three[kind] as number) / scale)));
  }
  return { rows, scale, dense };
}
