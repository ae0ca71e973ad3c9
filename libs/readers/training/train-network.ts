import type { Network } from '../sentiment/network.js';
import { seeded, shuffle } from './random.js';

/** A training example: the input of the network, and the index of the correct output. */
export interface NetworkExample {
  input: Float32Array;
  label: number;
  weight: number;
}

/** The settings of a training. */
export interface NetworkSettings {
  outputs: number;
  seed?: number;
  hidden: number;
  epochs: number;
  batch: number;
  rate: number;
  /** The probability that the training ignores a hidden unit for one example. */
  dropout: number;
  decay: number;
}

/** Trains a network that has one hidden layer. Uses Adam on batches, dropout of hidden units, and weight decay. */
export function trainNetwork(examples: readonly NetworkExample[], settings: NetworkSettings): Network {
  const inputs = examples[0]?.input.length ?? 0;
  const { hidden, outputs, epochs, batch } = settings;
  const random = seeded(settings.seed ?? 2);
  const first = initialWeights(hidden, inputs, random);
  const second = initialWeights(outputs, hidden, random);
  const model: Network = { inputs, hidden, outputs, first, second };
  const adamFirst = adam(first, settings.decay);
  const adamSecond = adam(second, settings.decay);
  const order = Uint32Array.from(examples.keys());
  const steps = epochs * Math.ceil(examples.length / batch);
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, random);
    for (let from = 0; from < order.length; from += batch) {
      const gradients = new Gradients(model, settings.dropout, random);
      const chosen = order.subarray(from, from + batch);
      for (const at of chosen) gradients.add(examples[at] as NetworkExample);
      const stepSize = settings.rate * (1 - step / steps);
      step += 1;
      adamFirst(gradients.first, stepSize, chosen.length, step);
      adamSecond(gradients.second, stepSize, chosen.length, step);
    }
  }
  return model;
}

/** The gradients of the loss of one batch. */
class Gradients {
  readonly first: Float32Array;
  readonly second: Float32Array;
  private readonly dropped: Uint8Array;
  private readonly active: Float32Array;

  constructor(
    private readonly model: Network,
    private readonly dropout: number,
    private readonly random: () => number,
  ) {
    this.first = new Float32Array(model.first.length);
    this.second = new Float32Array(model.second.length);
    this.dropped = new Uint8Array(model.hidden);
    this.active = new Float32Array(model.hidden);
  }

  add({ input, label, weight }: NetworkExample): void {
    const { inputs, hidden, outputs, first, second } = this.model;
    const keep = 1 / (1 - this.dropout);
    for (let unit = 0; unit < hidden; unit++) {
      this.dropped[unit] = this.random() < this.dropout ? 1 : 0;
      const row = unit * (inputs + 1);
      let sum = first[row + inputs] as number;
      if (this.dropped[unit] === 0)
        for (let n = 0; n < inputs; n++) sum += (first[row + n] as number) * (input[n] as number);
      this.active[unit] = this.dropped[unit] === 1 || sum <= 0 ? 0 : sum * keep;
    }
    const errors = this.errorsOf(label);
    for (let unit = 0; unit < hidden; unit++) {
      const active = this.active[unit] as number;
      if (active === 0) continue;
      let back = 0;
      for (let kind = 0; kind < outputs; kind++) {
        const at = kind * (hidden + 1) + unit;
        const error = (errors[kind] as number) * weight;
        back += error * (second[at] as number);
        this.second[at] = (this.second[at] as number) + error * active;
      }
      back *= keep;
      const row = unit * (inputs + 1);
      for (let n = 0; n < inputs; n++)
        this.first[row + n] = (this.first[row + n] as number) + back * (input[n] as number);
      this.first[row + inputs] = (this.first[row + inputs] as number) + back;
    }
    for (let kind = 0; kind < outputs; kind++) {
      const bias = kind * (hidden + 1) + hidden;
      this.second[bias] = (this.second[bias] as number) + (errors[kind] as number) * weight;
    }
  }

  private errorsOf(label: number): Float32Array {
    const { hidden, outputs, second } = this.model;
    const sums = new Float32Array(outputs);
    for (let kind = 0; kind < outputs; kind++) {
      const row = kind * (hidden + 1);
      let sum = second[row + hidden] as number;
      for (let unit = 0; unit < hidden; unit++)
        sum += (this.active[unit] as number) * (second[row + unit] as number);
      sums[kind] = sum;
    }
    const max = Math.max(...sums);
    let total = 0;
    for (let kind = 0; kind < outputs; kind++) total += sums[kind] = Math.exp((sums[kind] as number) - max);
    for (let kind = 0; kind < outputs; kind++)
      sums[kind] = (sums[kind] as number) / total - (kind === label ? 1 : 0);
    return sums;
  }
}

/** Returns the initial weights of a layer: uniformly random (Glorot), with biases of 0. */
function initialWeights(units: number, inputs: number, random: () => number): Float32Array {
  const bound = Math.sqrt(6 / (units + inputs));
  const weights = new Float32Array(units * (inputs + 1));
  for (let unit = 0; unit < units; unit++)
    for (let n = 0; n < inputs; n++) weights[unit * (inputs + 1) + n] = (random() * 2 - 1) * bound;
  return weights;
}

/**
 * Returns a function that makes one step of Adam with decoupled weight decay. `gradients` contains the sums of the
 * gradients of `size` examples.
 */
function adam(weights: Float32Array, decay: number) {
  const mean = new Float32Array(weights.length);
  const variance = new Float32Array(weights.length);
  return (gradients: Float32Array, stepSize: number, size: number, step: number) => {
    const [forMean, forVariance] = [1 - 0.9 ** step, 1 - 0.999 ** step];
    for (let n = 0; n < weights.length; n++) {
      const gradient = (gradients[n] as number) / size;
      mean[n] = 0.9 * (mean[n] as number) + 0.1 * gradient;
      variance[n] = 0.999 * (variance[n] as number) + 0.001 * gradient * gradient;
      const move = (mean[n] as number) / forMean / (Math.sqrt((variance[n] as number) / forVariance) + 1e-8);
      weights[n] = (weights[n] as number) - stepSize * (move + decay * (weights[n] as number));
    }
  };
}
