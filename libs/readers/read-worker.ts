import { constants, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { LocalReading, ReadRequest } from './reading.js';
import { Reader } from './reader.js';
import { loadWeights } from './weights.js';

// Lowers the priority of this thread, which only Linux supports for single threads.
if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const reader = new Reader(loadWeights());

/** Runs in a worker thread: see `local-reader.ts`. */
export default function read(requests: readonly ReadRequest[]): LocalReading[] {
  return requests.map((request) => reader.read(request));
}
