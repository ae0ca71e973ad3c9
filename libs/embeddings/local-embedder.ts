import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { Tinypool } from 'tinypool';
import { within } from '#kernel';
import { LOCAL_EMBEDDINGS } from './compress.js';
import type { Embedder } from './embedder.js';

/** Number of texts in one task. An urgent text waits for at most one task of other texts, which takes 20 to 40 ms. */
const TEXTS_IN_TASK = 16;
const IDLE_MS = 600_000;
/** How long a stop waits for a running task. */
const LAST_TASK_MS = 5_000;

/**
 * Embeds texts with the local model in a separate thread. The thread starts with the first text, and ends when it is
 * idle.
 */
export class LocalEmbedder implements Embedder {
  readonly model = LOCAL_EMBEDDINGS;
  private readonly queue = new PQueue({ concurrency: 1 });
  private pool: Tinypool | undefined;

  async embed(texts: readonly string[], urgent = false): Promise<Uint8Array[]> {
    const tasks: Promise<Uint8Array[]>[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_IN_TASK) {
      const part = texts.slice(from, from + TEXTS_IN_TASK);
      tasks.push(this.queue.add(() => this.run(part), { priority: urgent ? 1 : 0, throwOnTimeout: true }));
    }
    return (await Promise.all(tasks)).flat();
  }

  async close(): Promise<void> {
    this.queue.clear();
    // If a thread ends while the native code runs, the native code aborts the process.
    await within(LAST_TASK_MS, this.queue.onIdle());
    await this.pool?.destroy();
  }

  private run(texts: readonly string[]): Promise<Uint8Array[]> {
    this.pool ??= new Tinypool({
      filename: fileURLToPath(new URL('./embed-worker.js', import.meta.url)),
      runtime: 'worker_threads',
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
    });
    return this.pool.run(texts) as Promise<Uint8Array[]>;
  }
}
