import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { isMainThread, type MessagePort } from 'node:worker_threads';
import { UpstreamError, type UpstreamErrorKind } from '../source.js';
import { parseFeed, type FeedOrigin, type StoredFeed } from './parse.js';

/** A feed to parse. `begun` gets a `ParseBegin` when the task begins. */
export interface ParseTask {
  bytes: Uint8Array;
  origin: FeedOrigin;
  begun: MessagePort;
}

/** The first message of a task. */
export interface ParseBegin {
  /** The id of the thread in `/proc/self/task`, on Linux. */
  thread: string | undefined;
}

/**
 * The result of a task. A result is plain data, because errors lose their fields when they are passed between threads.
 */
export type ParseOutcome =
  | { feed: StoredFeed }
  | { fault: { kind: UpstreamErrorKind; message: string; statusCode: number } };

const isLinux = process.platform === 'linux';
const thread = threadId();
// Lowers the priority of this thread. Only Linux supports this for single threads. With the lowest priority, the thread
// would get hardly any processor time on a busy machine.
if (!isMainThread && isLinux) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

/** Parses one feed. `parse-off-thread.ts` runs this function in a worker thread. */
export default function parse({ bytes, origin, begun }: ParseTask): ParseOutcome {
  begun.postMessage({ thread } satisfies ParseBegin);
  begun.close();
  try {
    return { feed: parseFeed(bytes, origin) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { kind, message, statusCode } = error;
    return { fault: { kind, message, statusCode } };
  }
}

/** Returns the id of this thread in `/proc/self/task`; undefined if the system is not Linux or has no `/proc`. */
function threadId(): string | undefined {
  try {
    return isLinux ? basename(readlinkSync('/proc/thread-self')) : undefined;
  } catch {
    return undefined;
  }
}
