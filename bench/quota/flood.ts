import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { answerQuestions } from '../peer.js';

/** One account that sends many more requests than allowed. */
export interface Flood {
  url: string;
  path: string;
  apiKey: string;
  /** Requests per second. */
  rate: number;
  connections: number;
}

const STEP_MS = 10;
let counts: Record<string, number> = {};
let isOn = false;
let ended: Promise<void> = Promise.resolve();

answerQuestions({
  begin(flood: Flood) {
    isOn = true;
    counts = {};
    ended = run(flood);
  },
  /** Ends the flood. Returns the number of responses by status. */
  async end() {
    isOn = false;
    await ended;
    return counts;
  },
});

/** Sends on schedule, independent of responses. */
async function run({ url, path, apiKey, rate, connections }: Flood): Promise<void> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const open = new Set<Promise<void>>();
  const began = performance.now();
  let sent = 0;
  while (isOn) {
    const due = ((performance.now() - began) / 1000) * rate;
    for (; sent < due; sent += 1) {
      const asked = ask(pool, path, apiKey).finally(() => open.delete(asked));
      open.add(asked);
    }
    await wait(STEP_MS);
  }
  await Promise.all(open);
  await pool.close();
}

async function ask(pool: Pool, path: string, apiKey: string): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
  await body.dump();
  counts[statusCode] = (counts[statusCode] ?? 0) + 1;
}
