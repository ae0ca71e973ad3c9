import { fileURLToPath } from 'node:url';
import { Tinypool } from 'tinypool';
import type { LocalReader, LocalReading, ReadItem, ReadRequest } from './reading.js';
import { MOST_CHARACTERS, MOST_TITLE_CHARACTERS } from './text/clean.js';

/** Names the local reader in what it has read. The version changes with weights and rules. */
export const LOCAL_READER = { reader: 'local', model: 'earshot-local', version: '1' } as const;

/** Items of one task: few enough that two threads share a batch, enough that the hand-over costs little. */
const ITEMS_PER_TASK = 16;
/** A task takes tens of milliseconds. The first one of a thread loads the models. */
const TASK_MS = 30_000;
const THREAD_MEMORY_MB = 256;

/**
 * Starts a reader with threads of its own, so that no event loop waits for it. Threads start with the first call.
 * @param options.workers number of threads
 */
export function startLocalReader({ workers }: { workers: number }): LocalReader {
  const pool = new Tinypool({
    filename: fileURLToPath(new URL('./read-worker.js', import.meta.url)),
    runtime: 'worker_threads',
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: 300_000,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  const runTask = async (requests: readonly ReadRequest[]): Promise<LocalReading[]> => {
    const signal = AbortSignal.timeout(TASK_MS);
    try {
      return (await pool.run(requests, { signal })) as LocalReading[];
    } catch (error) {
      const tooLong = `takes more than ${TASK_MS / 1000} s for ${requests.length} items`;
      const why = signal.aborted ? tooLong : error instanceof Error ? error.message : String(error);
      throw new Error(`the local reader failed: ${why}`, { cause: error });
    }
  };
  return {
    async read(requests) {
      const tasks: Promise<LocalReading[]>[] = [];
      for (let from = 0; from < requests.length; from += ITEMS_PER_TASK)
        tasks.push(runTask(requests.slice(from, from + ITEMS_PER_TASK).map(shortened)));
      return (await Promise.all(tasks)).flat();
    },
    close: () => pool.destroy(),
  };
}

/** Only what is read goes to the thread. Invisible characters are removed there, so the cut leaves room for some. */
function shortened(request: ReadRequest): ReadRequest {
  const { source, kind, title, text, titleOfParent, lang, community, url, terms } = request.item;
  const item: ReadItem = {
    source,
    kind,
    title: title.slice(0, 2 * MOST_TITLE_CHARACTERS),
    text: text.slice(0, 2 * MOST_CHARACTERS),
    titleOfParent,
    url: url.slice(0, 1_000),
    terms,
    ...(lang !== undefined && { lang }),
    ...(community !== undefined && { community }),
  };
  return { ...request, item };
}
