import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { answerQuestions } from '../peer.js';

/** The baseline: searches the upstream as often as Earshot reads it, and POSTs new items as unsigned JSON. */

/** What to fetch and where to send it. */
export interface BarePolling {
  url: string;
  hook: string;
  term: string;
  everyMs: number;
}

interface Hit {
  objectID: string;
  comment_text?: string;
  title?: string;
}

const seen = new Set<string>();
let isPolling = false;
let ended: Promise<void> = Promise.resolve();

answerQuestions({
  start(polling: BarePolling) {
    isPolling = true;
    ended = poll(polling);
  },
  async stop() {
    isPolling = false;
    await ended;
  },
});

async function poll({ url, hook, term, everyMs }: BarePolling): Promise<void> {
  const upstream = new Pool(url, { connections: 16 });
  for (let next = Date.now(); isPolling; next += everyMs) {
    await wait(Math.max(0, next - Date.now()));
    const answer = await upstream.request({
      method: 'GET',
      // The last parameter distinguishes the requests of this loop from those of Earshot in the simulator's log.
      path: `/api/v1/search_by_date?query=${term}&tags=(story,comment)&hitsPerPage=1000&client=bare`,
    });
    const { hits } = (await answer.body.json()) as { hits: Hit[] };
    const occurredAt = new Date().toISOString();
    const fresh = hits.filter(({ objectID }) => !seen.has(objectID));
    for (const { objectID } of fresh) seen.add(objectID);
    await Promise.all(fresh.map((hit) => send(upstream, hook, hit, occurredAt)));
  }
  await upstream.close();
}

async function send(upstream: Pool, hook: string, hit: Hit, occurredAt: string): Promise<void> {
  const item = { text: hit.comment_text ?? hit.title ?? '', id: hit.objectID };
  const { body } = await upstream.request({
    method: 'POST',
    path: `/hooks/${hook}`,
    headers: { 'content-type': 'application/json', 'webhook-id': hit.objectID },
    body: JSON.stringify({ id: hit.objectID, type: 'hn_item.created', item, occurredAt }),
  });
  await body.dump();
}
