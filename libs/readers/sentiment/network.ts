import { addProducts } from '#kernel';

/** A network with one hidden layer of rectified linear units. */
export interface Network {
  inputs: number;
  hidden: number;
  outputs: number;
  /** `inputs` weights and one bias for each hidden unit. */
  first: Float32Array;
  /** `hidden` weights and one bias for each output. */
  second: Float32Array;
}

/** Returns the outputs of the network, before `softmax`. */
export function networkOutputs(
  { inputs, hidden, outputs, first, second }: Network,
  input: Float32Array,
): number[] {
  const sums = Array.from({ length: outputs }, (_, kind) => second[kind * (hidden + 1) + hidden] as number);
  const units = new Float64Array(hidden);
  for (let unit = 0; unit < hidden; unit++) units[unit] = first[unit * (inputs + 1) + inputs]!;
  addProducts(units, first, inputs + 1, input);
  for (let unit = 0; unit < hidden; unit++) {
    const sum = units[unit]!;
    if (sum <= 0) continue;
    for (let kind = 0; kind < outputs; kind++)
      sums[kind] = (sums[kind] as number) + sum * (second[kind * (hidden + 1) + unit] as number);
  }
  return sums;
}

/** Converts outputs to probabilities. */
export function softmax(outputs: readonly number[]): number[] {
  const max = Math.max(...outputs);
  const parts = outputs.map((output) => Math.exp(output - max));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}
