import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import fc from 'fast-check';
import { checkout } from '#testing';
import { compress, fromBfloat16, SentenceEncoder, STORED_DIMENSIONS } from './index.js';
import { Tokenizer, type Vocabulary } from './tokenizer.js';

const SENTENCES = [
  'The battery of my phone is empty after an hour.',
  'My handset barely lasts until lunch.',
  'Which bakery sells the best croissants?',
  'Größe & Æther: naïve café – 5 €, don’t!',
];
/** The results of the original model for these sentences, computed with TensorFlow.js. */
const ORIGINAL = {
  ids: [
    [34, 3759, 14, 69, 825, 18, 5169, 160, 58, 1754, 6],
    [404, 1758, 445, 5735, 231, 7, 495, 4603, 6],
    [3491, 6866, 408, 1327, 7, 9, 237, 30, 2713, 297, 7, 1876, 54],
    [
      ...[223, 93, 6781, 0, 59, 370, 30, 0, 1166, 57, 1216, 0, 105, 976, 209, 1133, 432, 301, 30, 5853, 8],
      ...[101, 2390, 17, 78],
    ],
  ],
  cosines: [0.633, 0.005, 0.088, 0.193, 0.165, 0.427],
};

const vocabulary = JSON.parse(
  readFileSync(new URL('libs/embeddings/model/vocabulary.json', checkout), 'utf8'),
) as Vocabulary;

let encoder: SentenceEncoder;
beforeAll(async () => {
  encoder = await SentenceEncoder.load();
});

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);
const pairs = <T>(all: readonly T[]) => all.flatMap((a, n) => all.slice(n + 1).map((b) => [a, b] as const));

describe('the tokenizer', () => {
  const tokenizer = new Tokenizer(vocabulary);

  it('returns the same ids as the original tokenizer for four sentences', () => {
    expect(SENTENCES.map((text) => tokenizer.encode(text))).toEqual(ORIGINAL.ids);
  });

  it('returns valid ids for generated texts, and no ids for an empty text and for white space', () => {
    expect(['', ' \n\t '].map((text) => tokenizer.encode(text))).toEqual([[], []]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const ids = tokenizer.encode(text);
        expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < vocabulary.length)).toBe(true);
      }),
    );
  });
});

describe('the sentence encoder', () => {
  it('returns embeddings whose cosines differ by less than 0.02 from those of the original model', async () => {
    const cosines = pairs(await encoder.encode(SENTENCES)).map(([a, b]) => dot(a, b));
    cosines.forEach((cosine, n) => expect(Math.abs(cosine - (ORIGINAL.cosines[n] ?? 0))).toBeLessThan(0.02));
  });

  it('returns vectors of length 1, and the same vector for a text alone and together with other texts', async () => {
    const [alone] = await encoder.encode([SENTENCES[1]!]);
    const together = await encoder.encode(SENTENCES);
    expect(together[1]).toEqual(alone);
    for (const one of together) expect(dot(one, one)).toBeCloseTo(1, 5);
  });

  it('accepts a text of a megabyte, whose end it ignores, a lone surrogate, and an empty text', async () => {
    const words = 'the battery is empty '.repeat(50_000);
    const [long, longer, odd, empty] = await encoder.encode([words, `${words}x`, 'a \ud800 b', '']);
    expect(longer).toEqual(long);
    expect(dot(odd!, odd!)).toBeCloseTo(1, 5);
    expect(empty!.every((value) => value === 0)).toBe(true);
  });

  it('returns the same numbers in a worker thread', async () => {
    const module = new URL('dist-test/libs/embeddings/index.js', checkout).href;
    const code = `import(${JSON.stringify(module)}).then(async ({ SentenceEncoder }) => {
      const [found] = await (await SentenceEncoder.load()).encode([${JSON.stringify(SENTENCES[0])}]);
      require('node:worker_threads').parentPort.postMessage(found);
    })`;
    const worker = new Worker(code, { eval: true });
    const [found] = (await once(worker, 'message')) as [Float32Array];
    await worker.terminate();
    expect(found).toEqual((await encoder.encode([SENTENCES[0]!]))[0]);
  });
});

describe('a stored embedding', () => {
  it('has 128 numbers and a length of about 1, and changes the cosine of two texts by less than 0.15', async () => {
    const embeddings = await encoder.encode(SENTENCES);
    const stored = embeddings.map((one) => fromBfloat16(compress(one)));
    expect(stored.map((one) => one.length)).toEqual(SENTENCES.map(() => STORED_DIMENSIONS));
    for (const one of stored) expect(dot(one, one)).toBeCloseTo(1, 1);
    const [before, after] = [pairs(embeddings), pairs(stored)].map((all) => all.map(([a, b]) => dot(a, b)));
    before!.forEach((cosine, n) => expect(Math.abs(cosine - after![n]!)).toBeLessThan(0.15));
  });

  it('contains only zeros if the embedding contains only zeros, like that of an empty text', () => {
    expect(compress(new Float32Array(512)).every((byte) => byte === 0)).toBe(true);
  });
});
