import { logistic, SIGNAL_NAMES, SIGNALS } from '../relevance/signal-weights.js';
import type { Observations } from '../relevance/signals.js';

/** A post with its signals. */
export interface RelevanceExample {
  observations: Observations;
  relevant: boolean;
}

const STEPS = 2_000;
const RATE = 0.5;
/** How strongly the weights are kept near the initial weights. This is necessary because there are few examples. */
const PULL = 0.02;

/**
 * Fits the weights of the signals, near the initial weights that were set by hand. Except for the bias, no weight
 * changes its sign.
 */
export function trainRelevance(examples: readonly RelevanceExample[]): Float32Array {
  const start = SIGNAL_NAMES.map((name) => SIGNALS[name]);
  const inputs = examples.map(({ observations }) =>
    SIGNAL_NAMES.map((name) => (name === 'bias' ? 1 : (observations.get(name)?.size ?? 0))),
  );
  const weights = Float64Array.from(start);
  for (let step = 0; step < STEPS; step++) {
    const gradients = SIGNAL_NAMES.map((_, n) => PULL * ((weights[n] as number) - (start[n] as number)));
    for (const [at, input] of inputs.entries()) {
      const sum = input.reduce((total, size, n) => total + size * (weights[n] as number), 0);
      const error = logistic(sum) - (examples[at]?.relevant === true ? 1 : 0);
      input.forEach((size, n) => (gradients[n] = (gradients[n] as number) + (error * size) / inputs.length));
    }
    gradients.forEach((gradient, n) => {
      const moved = (weights[n] as number) - RATE * gradient;
      weights[n] = n > 0 && moved * (start[n] as number) < 0 ? 0 : moved;
    });
  }
  return Float32Array.from(weights);
}
