import { readFileSync } from 'node:fs';
import { addProducts } from '#kernel';
import { toBfloat16 } from './bfloat16.js';
import { modelFile } from './model-files.js';
import { SENTENCE_DIMENSIONS } from './sentence-encoder.js';

/** How many numbers a stored embedding contains. */
export const STORED_DIMENSIONS = 128;

/** The local model. Only embeddings of the same model and version can be compared. */
export const EMBEDDING_MODEL = { model: 'use-lite', version: '2', dimensions: STORED_DIMENSIONS } as const;

/** The model and its version, as in events and `mention_vectors`. */
export const LOCAL_EMBEDDINGS = `${EMBEDDING_MODEL.model}-${EMBEDDING_MODEL.version}`;

/** The 128 principal directions, each with 512 numbers. */
let directions: Float32Array | undefined;

/**
 * Converts an embedding of `SentenceEncoder` to its stored form of 256 bytes: its 128 principal components as a unit
 * vector, each number as bfloat16, little-endian.
 */
export function compress(embedding: Float32Array): Uint8Array {
  directions ??= readDirections();
  const components = new Float64Array(STORED_DIMENSIONS);
  addProducts(components, directions, SENTENCE_DIMENSIONS, embedding);
  return toBfloat16(toUnitLength(Float32Array.from(components)));
}

/** Returns a new vector with the same direction and length 1. A vector of zeros is returned unchanged. */
export function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}

function readDirections(): Float32Array {
  const bytes = readFileSync(modelFile('principal.f16'));
  const found = new Float32Array(SENTENCE_DIMENSIONS * STORED_DIMENSIONS);
  for (let row = 0; row < SENTENCE_DIMENSIONS; row += 1)
    for (let column = 0; column < STORED_DIMENSIONS; column += 1)
      found[column * SENTENCE_DIMENSIONS + row] = fromHalf(
        bytes.readUInt16LE(2 * (row * STORED_DIMENSIONS + column)),
      );
  return found;
}

/** Converts the bits of a finite IEEE 754 half-precision float to its value. */
function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
