import { logSoftmax, type Mood } from './linear.js';

/** One hidden layer of rectified units over the sentence embedding and the lexicon figures. */
export interface Network {
  inputs: number;
  hidden: number;
  /** `inputs` weights and one bias for each hidden unit. */
  first: Float32Array;
  /** `hidden` weights and one bias for each of the three classes. */
  second: Float32Array;
}

/** Log-probabilities of negative, neutral and positive. */
export function networkMood({ inputs, hidden, first, second }: Network, input: Float32Array): Mood {
  const sums: [number, number, number] = [0, 0, 0];
  for (let kind = 0; kind < 3; kind++) sums[kind as 0 | 1 | 2] = second[kind * (hidden + 1) + hidden] ?? 0;
  for (let unit = 0; unit < hidden; unit++) {
    const row = unit * (inputs + 1);
    let sum = first[row + inputs] as number;
    for (let n = 0; n < inputs; n++) sum += (first[row + n] as number) * (input[n] as number);
    if (sum <= 0) continue;
    sums[0] += sum * (second[unit] as number);
    sums[1] += sum * (second[hidden + 1 + unit] as number);
    sums[2] += sum * (second[2 * (hidden + 1) + unit] as number);
  }
  return logSoftmax(sums);
}
