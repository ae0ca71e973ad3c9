import { Pool } from 'undici';
import { answerQuestions } from '../peer.js';

/** The baseline: nothing but undici's `request` in a loop, nothing signed, nothing kept. */

/** What to send, and how. */
export interface BareRun {
  url: string;
  paths: string[];
  count: number;
  concurrency: number;
  body: string;
}

let pool: Pool | undefined;

answerQuestions({
  async send({ url, paths, count, concurrency, body }: BareRun) {
    const sender = (pool ??= new Pool(url, { connections: concurrency, pipelining: 1 }));
    let sent = 0;
    const lane = async () => {
      while (sent < count) {
        const path = paths[sent % paths.length] ?? '/';
        sent += 1;
        const answer = await sender.request({
          method: 'POST',
          path,
          headers: { 'content-type': 'application/json' },
          body,
        });
        await answer.body.dump();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
  },
});
