import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import PQueue from 'p-queue';
import { Tinypool } from 'tinypool';
import { UpstreamError } from '../source.js';
import type { FeedOrigin, StoredFeed } from './parse.js';
import type { ParseBegin, ParseOutcome, ParseTask } from './parse-worker.js';

/** Threads that parse feeds of one size class, and their limits. */
interface Threads {
  queue: PQueue;
  pool: Tinypool;
  /** Maximum processor time. On systems that do not show it for single threads: maximum duration of the task. */
  timeMs: number;
  memoryMb: number;
}

const TICK_MS = 100;
/**
 * On a busy machine a thread waits for a processor. A task is aborted after this many times its maximum processor time.
 */
const MAX_WAIT_FACTOR = 10;
/** Duration of a clock tick of `/proc`: there are 100 ticks per second on every Linux on which Node runs. */
const PROC_TICK_MS = 10;
/**
 * Maximum size of a small feed; most feeds are smaller. Larger feeds have another thread, so that they do not delay the
 * small ones.
 */
const SMALL_BYTES = 256 * 1024;
let threads: { small: Threads; large: Threads } | undefined;

/**
 * Parses a feed in a separate thread, so that a feed cannot block this process. The thread is terminated if it takes
 * too much processor time or memory. Small feeds have their own threads.
 * @throws UpstreamError the errors of `parseFeed`, `too_large` if the feed takes too much time or memory, and `timeout`
 *   if this machine is too busy
 */
export async function parseOffThread(bytes: Uint8Array, origin: FeedOrigin): Promise<StoredFeed> {
  threads ??= { small: startThreads(2, 2_000, 128), large: startThreads(1, 10_000, 512) };
  const { queue, pool, timeMs, memoryMb } = bytes.length <= SMALL_BYTES ? threads.small : threads.large;
  const parse = () => run(pool, timeMs, memoryMb, { bytes, origin });
  const outcome = await queue.add(parse, { priority: -bytes.length, throwOnTimeout: true });
  if ('feed' in outcome) return outcome.feed;
  const { kind, message, statusCode } = outcome.fault;
  throw new UpstreamError(kind, message, statusCode);
}

async function run(
  pool: Tinypool,
  timeMs: number,
  memoryMb: number,
  task: Omit<ParseTask, 'begun'>,
): Promise<ParseOutcome> {
  const { port1, port2 } = new MessageChannel();
  const tooLong = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  // The time is measured from the beginning of the task, because starting a thread can take long.
  port1.once('message', ({ thread }: ParseBegin) => (timer = limitTime(thread, timeMs, tooLong)));
  try {
    const options = { transferList: [port2], signal: tooLong.signal };
    return (await pool.run({ ...task, begun: port2 }, options)) as ParseOutcome;
  } catch (error) {
    if (tooLong.signal.aborted) throw tooLong.signal.reason as UpstreamError;
    if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new UpstreamError(
        'too_large',
        `rss answered a feed that takes more than ${memoryMb} MB to read`,
        200,
      );
    throw error;
  } finally {
    clearInterval(timer);
    port1.close();
  }
}

/**
 * Aborts a task that uses too much processor time (the feed is the cause) or waits too long for a processor (the
 * machine is the cause). The wait is counted in ticks and not by the clock: if this process was stopped for a while,
 * the clock would abort a task whose result has perhaps already arrived.
 */
function limitTime(thread: string | undefined, timeMs: number, task: AbortController): NodeJS.Timeout {
  let usedBefore = processorMs(thread);
  let waitedMs = 0;
  return setInterval(() => {
    waitedMs += TICK_MS;
    const used = processorMs(thread);
    // If the first reading failed, the thread's time for earlier feeds is unknown. It must not count, so counting
    // begins now.
    usedBefore ??= used;
    const usedMs = thread === undefined ? waitedMs : (used ?? 0) - (usedBefore ?? 0);
    if (usedMs >= timeMs)
      task.abort(
        new UpstreamError(
          'too_large',
          `rss answered a feed that takes more than ${timeMs / 1000} s to read`,
          200,
        ),
      );
    else if (waitedMs >= timeMs * MAX_WAIT_FACTOR)
      task.abort(
        new UpstreamError('timeout', `this machine was too busy to read a feed within ${waitedMs / 1000} s`),
      );
  }, TICK_MS);
}

/**
 * Returns the processor time that a thread has used, in milliseconds: fields 14 and 15 of its `stat` file, see proc(5).
 * Undefined if the thread has ended, if this system does not show single threads, or if the file cannot be opened.
 */
function processorMs(thread: string | undefined): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * PROC_TICK_MS;
}

function startThreads(count: number, timeMs: number, memoryMb: number): Threads {
  const pool = new Tinypool({
    filename: fileURLToPath(new URL('./parse-worker.js', import.meta.url)),
    runtime: 'worker_threads',
    minThreads: 0,
    maxThreads: count,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  });
  return { queue: new PQueue({ concurrency: count }), pool, timeMs, memoryMb };
}
