// Computes libs/embeddings/model/principal.f16 from texts of ../shared/readings:
// `npm run -s build && npm run embeddings:pca`. The file contains the 128 directions to which embeddings are
// compressed, as 512 × 128 half-precision numbers, and nothing of the texts. Run this only after a change of the
// encoder.

import { Buffer } from 'node:buffer';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { SENTENCE_DIMENSIONS, SentenceEncoder, STORED_DIMENSIONS } from '../../dist/libs/embeddings/index.js';

const READINGS = new URL('../../../shared/readings/', import.meta.url);
const FILE = fileURLToPath(new URL('../../libs/embeddings/model/principal.f16', import.meta.url));
/** For each file, the number n: every n-th line is used. The text of a line is in the second column. */
const TEXTS = {
  'sentiment/tweets.train.tsv': 5,
  'sentiment/reddit.train.tsv': 5,
  'sentiment/stackoverflow.train.tsv': 1,
};

if (!existsSync(READINGS)) {
  console.error(
    `${fileURLToPath(READINGS)} is missing: it has the texts from which the directions are computed`,
  );
  process.exit(1);
}
const texts = Object.entries(TEXTS).flatMap(([name, step]) =>
  readFileSync(new URL(name, READINGS), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .filter((_, n) => n % step === 0)
    .map((line) => line.split('\t')[1]),
);
console.log(`embedding ${texts.length} texts, about half a minute …`);
const encoder = await SentenceEncoder.load();
const directions = principal(await encoder.encode(texts));
const bytes = Buffer.alloc(SENTENCE_DIMENSIONS * STORED_DIMENSIONS * 2);
directions.forEach((direction, column) =>
  direction.forEach((value, row) =>
    bytes.writeUInt16LE(toHalf(value), 2 * (row * STORED_DIMENSIONS + column)),
  ),
);
writeFileSync(FILE, bytes);
console.log(`wrote ${FILE}`);

/** Returns the eigenvectors of the largest eigenvalues of EᵀE. */
function principal(embeddings) {
  const size = SENTENCE_DIMENSIONS;
  const sums = Matrix.zeros(size, size);
  for (const one of embeddings)
    for (let a = 0; a < size; a += 1) for (let b = a; b < size; b += 1) sums.data[a][b] += one[a] * one[b];
  for (let a = 0; a < size; a += 1) for (let b = 0; b < a; b += 1) sums.data[a][b] = sums.data[b][a];
  const { realEigenvalues, eigenvectorMatrix } = new EigenvalueDecomposition(sums, { assumeSymmetric: true });
  const best = [...realEigenvalues.keys()]
    .sort((a, b) => realEigenvalues[b] - realEigenvalues[a])
    .slice(0, STORED_DIMENSIONS);
  const part = (indices) => indices.reduce((sum, n) => sum + realEigenvalues[n], 0);
  const kept = (100 * part(best)) / part([...realEigenvalues.keys()]);
  console.log(`${STORED_DIMENSIONS} of ${size} directions keep ${kept.toFixed(1)} % of the variance`);
  return best.map((column) => eigenvectorMatrix.getColumn(column));
}

/** Returns the nearest IEEE 754 half-precision number, as its bits. */
function toHalf(value) {
  const magnitude = Math.abs(value);
  const sign = value < 0 ? 0x8000 : 0;
  if (magnitude < 2 ** -14) return sign | Math.round(magnitude * 2 ** 24);
  const exponent = Math.floor(Math.log2(magnitude));
  return sign | (((exponent + 15) << 10) + Math.round((magnitude / 2 ** exponent - 1) * 1024));
}
