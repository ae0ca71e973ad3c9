import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { linearMood, probabilities } from '../sentiment/linear.js';
import { networkOutputs, softmax } from '../sentiment/network.js';
import { ordinaryWords } from './ordinary-words.js';
import { trainLinear, type Example } from './train-linear.js';
import { trainNetwork } from './train-network.js';

const example = (bucket: number, label: number): Example => ({
  groups: [{ buckets: Uint32Array.of(bucket), from: 0 }],
  figures: new Float32Array(0),
  label,
  weight: 1,
});

describe('training', () => {
  it('fits a linear model if each class has its own feature', () => {
    const examples = Array.from({ length: 60 }, (_, n) => example(n % 3, n % 3));
    const model = trainLinear(examples, { rows: 3, epochs: 20, rate: 1, l2: 0, prune: 0 });
    for (const label of [0, 1, 2] as const) {
      const { groups, figures } = example(label, label);
      expect(probabilities(linearMood(model, groups, figures))[label]).toBeGreaterThan(0.8);
    }
  });

  it('fits a network to classes that no single input separates, and returns the same network each time', () => {
    const corners = [
      [0, 0, 0],
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 0],
    ] as const;
    const examples = Array.from({ length: 200 }, (_, n) => {
      const [a, b, label] = corners[n % 4] ?? corners[0];
      return { input: Float32Array.of(a, b), label, weight: 1 };
    });
    const settings = { outputs: 2, hidden: 16, epochs: 60, batch: 10, rate: 0.02, dropout: 0, decay: 0 };
    const network = trainNetwork(examples, settings);
    for (const [a, b, label] of corners)
      expect(softmax(networkOutputs(network, Float32Array.of(a, b)))[label]).toBeGreaterThan(0.7);
    expect(trainNetwork(examples, settings)).toEqual(network);
  });

  it('treats words as ordinary if they are often written in lower case', () => {
    const texts = Array.from({ length: 20 }, () => 'the apple fell, said Acme #target');
    expect(ordinaryWords(texts)).toEqual(['apple', 'fell', 'said', 'the']);
  });

  it('reports missing files and ends with an error', () => {
    const program = fileURLToPath(new URL('./train.js', import.meta.url));
    const env = { ...process.env, READINGS_DATA: '/nowhere' };
    const { status, stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('missing: /nowhere/sentiment/tweets.train.tsv'),
    ]);
  });
});
