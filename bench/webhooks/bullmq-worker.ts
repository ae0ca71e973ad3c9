import { createRequire } from 'node:module';
import { Queue, Worker } from 'bullmq';
import { Pool } from 'undici';
import { signatureHeaders } from '../../apps/delivery/attempts/signature.js';
import { answerQuestions } from '../peer.js';

/**
 * Puts the deliveries of a round into a BullMQ queue as jobs. A worker signs and sends them like Earshot. A finished job
 * remains in Redis with the status of the response, as the record of the attempt. A failed job is retried.
 */

/** What to deliver. */
export interface BullRun {
  url: string;
  paths: string[];
  concurrency: number;
  secret: string;
  events: { id: string; body: string }[];
}

interface Job {
  id: string;
  path: string;
  body: string;
}

const connection = { host: '127.0.0.1', port: Number(process.argv[2]) };
const BATCH_SIZE = 1000;
let round = 0;
let pool: Pool | undefined;
let queue: Queue<Job> | undefined;
let worker: Worker<Job, number> | undefined;
let count = 0;

answerQuestions({
  /** Returns whether the Redis client `ioredis` is installed. BullMQ needs this client, but does not install it. */
  hasClient() {
    try {
      return Boolean(createRequire(import.meta.url).resolve('ioredis'));
    } catch {
      return false;
    }
  },
  /** Creates a queue with all jobs, and a worker that `work` starts. */
  async fill({ url, paths, concurrency, secret, events }: BullRun) {
    round += 1;
    count = events.length;
    pool ??= new Pool(url, { connections: concurrency, pipelining: 1 });
    queue = new Queue<Job>(`webhooks-${round}`, { connection });
    for (let at = 0; at < events.length; at += BATCH_SIZE)
      await queue.addBulk(
        events.slice(at, at + BATCH_SIZE).map(({ id, body }, index) => ({
          name: 'webhook',
          data: { id, body, path: paths[(at + index) % paths.length] ?? '/' },
          opts: { attempts: 8, backoff: { type: 'exponential', delay: 30_000 } },
        })),
      );
    const sender = pool;
    worker = new Worker<Job, number>(queue.name, ({ data }) => deliver(sender, secret, data), {
      connection,
      concurrency,
      autorun: false,
    });
    await worker.waitUntilReady();
  },
  /** Returns when every job is done and its result is stored. */
  async work() {
    void worker?.run();
    while (((await queue?.getCompletedCount()) ?? 0) < count)
      await new Promise((resolve) => setTimeout(resolve, 10));
  },
  async clear() {
    await worker?.close();
    await queue?.obliterate({ force: true });
    await queue?.close();
  },
});

async function deliver(sender: Pool, secret: string, { id, path, body }: Job): Promise<number> {
  const bytes = Buffer.from(body);
  const { statusCode, body: answer } = await sender.request({
    method: 'POST',
    path,
    headers: [
      'content-type',
      'application/json',
      ...signatureHeaders({ secrets: [secret], legacy: false }, id, bytes, Math.floor(Date.now() / 1000)),
    ],
    body: bytes,
  });
  await answer.dump();
  if (statusCode >= 300) throw new Error(`the endpoint answered ${statusCode}`);
  return statusCode;
}
