import { Pool } from 'undici';
import { signatureHeaders } from '../../apps/delivery/attempts/signature.js';
import { answerQuestions } from '../peer.js';

/**
 * The program with which the delivery service is compared: a loop of undici's `request` that makes the same two
 * signatures. It gets its events in memory, retries nothing and stores nothing.
 */

/** What to send, and how. */
export interface BareRun {
  url: string;
  paths: string[];
  concurrency: number;
  secret: string;
  events: { id: string; body: string }[];
}

let pool: Pool | undefined;
let run: BareRun | undefined;

answerQuestions({
  fill(given: BareRun) {
    pool ??= new Pool(given.url, { connections: given.concurrency, pipelining: 1 });
    run = given;
  },
  async send() {
    if (!pool || !run) throw new Error('nothing to send');
    const sender = pool;
    const { paths, events, concurrency, secret } = run;
    let sent = 0;
    const runner = async () => {
      for (let event; (event = events[sent]);) {
        const path = paths[sent % paths.length] ?? '/';
        sent += 1;
        await post(sender, path, secret, event);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, runner));
  },
});

async function post(sender: Pool, path: string, secret: string, event: { id: string; body: string }) {
  const body = Buffer.from(event.body);
  const now = Math.floor(Date.now() / 1000);
  const answer = await sender.request({
    method: 'POST',
    path,
    headers: [
      'content-type',
      'application/json',
      ...signatureHeaders({ secrets: [secret], legacy: false }, event.id, body, now),
    ],
    body,
  });
  await answer.body.dump();
}
