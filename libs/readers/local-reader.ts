import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { Tinypool } from 'tinypool';
import { within } from '#kernel';
import type { LocalReader, LocalReading, ReadRequest } from './reading.js';
import { MAX_CHARACTERS, MAX_TITLE_CHARACTERS } from './text/clean.js';
import { MAX_NAMES } from './text/names.js';

/** Identifies the local reader in its readings. The version must be raised if the weights or the rules change. */
export const LOCAL_READER = { reader: 'local', model: 'earshot-local', version: '2' } as const;

/**
 * Items of one task. The number is low, so that two threads can share a batch, but high enough that starting tasks
 * takes little time.
 */
const ITEMS_PER_TASK = 16;
/**
 * Maximum time of a task. A task usually takes some tens of milliseconds. The first task of a thread takes longer,
 * because it loads the models.
 */
const TASK_MS = 30_000;
/** How long a stop waits for a running task. */
const LAST_TASK_MS = 5_000;
const THREAD_MEMORY_MB = 256;
const MAX_OTHER_CHARACTERS = 1_000;

/**
 * Starts a reader with its own threads, so that it does not block the calling thread. Threads start with the first
 * call.
 * @param options.workers number of threads
 */
export function startLocalReader({ workers }: { workers: number }): LocalReader {
  return readerInThreads(new URL('./read-worker.js', import.meta.url), { workers, taskMs: TASK_MS });
}

/** Creates a reader whose threads run this module. If a task takes longer than `taskMs`, its thread is terminated. */
export function readerInThreads(
  module: URL,
  { workers, taskMs }: { workers: number; taskMs: number },
): LocalReader {
  const pool = new Tinypool({
    filename: fileURLToPath(module),
    runtime: 'worker_threads',
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: 300_000,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  const queue = new PQueue({ concurrency: workers });
  const runTask = async (requests: readonly ReadRequest[]): Promise<LocalReading[]> => {
    // The time is measured from here, when a thread is free, and not from the call.
    const signal = AbortSignal.timeout(taskMs);
    try {
      return (await pool.run(requests, { signal })) as LocalReading[];
    } catch (error) {
      const tooLong = `takes more than ${taskMs / 1000} s for ${requests.length} items`;
      const why = signal.aborted ? tooLong : error instanceof Error ? error.message : String(error);
      throw new Error(`the local reader failed: ${why}`, { cause: error });
    }
  };
  return {
    async read(requests) {
      const tasks: ReadRequest[][] = [];
      for (let from = 0; from < requests.length; from += ITEMS_PER_TASK)
        tasks.push(requests.slice(from, from + ITEMS_PER_TASK).map(shortened));
      return (await queue.addAll(tasks.map((task) => () => runTask(task)))).flat();
    },
    async close() {
      queue.clear();
      // If a thread ends while the native code of the embedding runs, the native code aborts the process.
      await within(LAST_TASK_MS, queue.onIdle());
      await pool.destroy();
    },
  };
}

/**
 * Shortens the texts of a request. Title and text keep twice the length that the thread reads, because the thread
 * removes invisible characters.
 */
function shortened({ item, subject, analysis, embed }: ReadRequest): ReadRequest {
  return {
    item: {
      ...item,
      title: item.title.slice(0, 2 * MAX_TITLE_CHARACTERS),
      text: item.text.slice(0, 2 * MAX_CHARACTERS),
      url: item.url.slice(0, MAX_OTHER_CHARACTERS),
      terms: [],
    },
    subject: {
      ...subject,
      names: subject.names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_OTHER_CHARACTERS)),
      ...(subject.about !== undefined && { about: subject.about.slice(0, MAX_CHARACTERS) }),
    },
    analysis,
    embed,
  };
}
