import { constants, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { compress, SentenceEncoder } from '#embeddings';
import type { LocalReading, ReadRequest } from './reading.js';
import { Reader } from './reader.js';
import { loadWeights } from './weights.js';

// Lowers the priority of this thread. Only Linux supports this for single threads.
if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const reader = new Reader(loadWeights());
let encoder: Promise<SentenceEncoder> | undefined;

/** Runs in a worker thread: see `local-reader.ts`. */
export default async function read(requests: readonly ReadRequest[]): Promise<LocalReading[]> {
  const readings: LocalReading[] = [];
  for (const request of requests) {
    const item = reader.prepare(request);
    const embedding =
      request.embed || (request.analysis && item.english) ? await embed(item.modelText) : undefined;
    const reading = reader.read(item, embedding);
    readings.push(request.embed && embedding ? { ...reading, embedding: compress(embedding) } : reading);
  }
  return readings;
}

async function embed(text: string): Promise<Float32Array | undefined> {
  encoder ??= SentenceEncoder.load();
  const [embedding] = await (await encoder).encode([text]);
  return embedding;
}
