import { constants, setPriority } from 'node:os';
import { isMainThread, type MessagePort } from 'node:worker_threads';
import { UpstreamError, type UpstreamErrorKind } from '../source.js';
import { parseFeed, type FeedOrigin, type StoredFeed } from './parse.js';

/** A feed to parse. `begun` gets a message when the task begins. */
export interface ParseTask {
  bytes: Uint8Array;
  origin: FeedOrigin;
  begun: MessagePort;
}

/** The result of a task. It is plain data, because errors lose their fields between threads. */
export type ParseOutcome =
  | { feed: StoredFeed }
  | { fault: { kind: UpstreamErrorKind; message: string; statusCode: number } };

// Lowers the priority of this thread, which only Linux supports for single threads.
if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

/** Runs in a worker thread: see `parse-off-thread.ts`. */
export default function parse({ bytes, origin, begun }: ParseTask): ParseOutcome {
  begun.postMessage('begun');
  begun.close();
  try {
    return { feed: parseFeed(bytes, origin) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { kind, message, statusCode } = error;
    return { fault: { kind, message, statusCode } };
  }
}
