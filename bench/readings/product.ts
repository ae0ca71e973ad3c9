import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { compile } from '#matching';
import { ApiClient, openAccount } from '#testing';
import {
  benchStores,
  numberOption,
  printProgress,
  table,
  temporaryDirectory,
  type Cleanup,
} from '../harness.js';
import { programEnv, startProgram } from '../program.js';
import { labelled } from './data.js';
import { MOOD, requestFor, type BenchReader } from './read.js';
import { Confusion } from './score.js';

const POSTS = numberOption('posts', 2000);
const FILE = 'sentiment/tweets.dev.tsv';
/** The number of posts that are published together, twice a second. A check stores at most 1,000. */
const TOGETHER = 50;
const PAUSE_MS = 500;
const MENTIONS_WITHIN_MS = 90_000;
/**
 * Nearly every English tweet contains one of these words, so the keyword matches the tweets without a change of their
 * texts.
 */
const TERMS =
  'the to a i and of in is on for you it at my be with this have me that so just will not are we was but your all'
    .concat(' out up if tomorrow about like see get from day what when his he they an or has as do')
    .split(' ');

interface SeenMention {
  url: string;
  analysis?: { sentiment: string | null };
}

/**
 * Measures sentiment through the running product: labelled posts appear at a simulated source, a keyword finds them by
 * its terms, and the API returns the mentions. For comparison, the same posts are also read directly.
 */
export async function measureProduct(reader: BenchReader, cleanup: Cleanup): Promise<void> {
  const rows = labelled(FILE)?.slice(0, POSTS);
  if (!rows) return;
  const stores = await benchStores(cleanup);
  const simulator = await startProgram('simulator', { PATH: process.env.PATH }, cleanup, {
    args: (port) => ['--port', String(port), '--rate', '0', '--history', '0', '--quiet'],
    ready: '/_sim/stats',
  });
  const env = programEnv(stores, {
    DATA_DIR: temporaryDirectory(cleanup),
    SOURCE_HACKERNEWS_URL: simulator.url,
    INTERVAL_FLOOR_SECONDS: '1',
  });
  const installation = await startProgram('earshot', env, cleanup);
  const api = new ApiClient(installation.url, (await openAccount(stores.natsUrl)).apiKey);
  const { body: keyword } = await api.post('/v1/keywords', {
    name: 'tweets',
    refresh_interval_seconds: 1,
    global_criteria: { market: 'global', terms: TERMS, match: 'word' },
    subject_role: 'topic',
    sources: [{ source: 'hackernews', enabled: true }],
  });
  const isChecked = async () =>
    (await api.get(`/v1/keywords/${keyword.id}`)).body.watches[0].lastStatus === 'completed';
  while (!(await isChecked())) await wait(100);

  const published = new Map<string, { label: string; text: string }>();
  for (let from = 0; from < rows.length; from += TOGETHER) {
    await Promise.all(
      rows
        .slice(from, from + TOGETHER)
        .map(async ({ label = '', text = '' }) =>
          published.set(await publish(simulator.url, text), { label, text }),
        ),
    );
    await wait(PAUSE_MS);
  }
  printProgress(`${published.size} posts are published`);

  const matcher = compile([{ key: '', mode: 'word', terms: TERMS }]);
  const expected = rows.filter(({ text = '' }) => matcher.match({ title: '', text }).length > 0).length;
  const [product, direct] = [new Confusion(), new Confusion()];
  let different = 0;
  const mentions = await allMentions(api, keyword.id, expected);
  for (const { url, analysis } of mentions) {
    const post = published.get(/id=(\d+)/.exec(url)?.[1] ?? '');
    if (!post) continue;
    const read = (await reader.read(requestFor(post.text, MOOD))).sentiment ?? '';
    product.add(post.label, analysis?.sentiment ?? '');
    direct.add(post.label, read);
    if (read !== analysis?.sentiment) different += 1;
  }
  console.log(
    `\nSentiment through the product: ${mentions.length} of ${published.size} tweets became mentions of a keyword with ${TERMS.length} terms; ${expected} tweets contain a term; for ${different} mentions, the product and the direct reading differ`,
  );
  const figuresOf = (what: string, found: Confusion) => [
    what,
    ...[found.macroRecall(), found.accuracy(), found.macroF1()].map((figure) => figure.toFixed(3)),
  ];
  table(
    ['posts', 'macro recall', 'accuracy', 'macro-F1'],
    [figuresOf('through the product', product), figuresOf('read directly', direct)],
  );
  table(product.table().head, product.table().rows);
}

/** @returns the id of the post at the source */
async function publish(simulatorUrl: string, text: string): Promise<string> {
  const { statusCode, body } = await request(`${simulatorUrl}/_sim/posts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ source: 'hackernews', kind: 'comment', text }),
  });
  const { externalId } = (await body.json()) as { externalId: string };
  if (statusCode !== 201) throw new Error(`the simulator answered ${statusCode}`);
  return externalId;
}

/** Waits until all mentions of the keyword have arrived, at most `MENTIONS_WITHIN_MS`, and returns the mentions. */
async function allMentions(api: ApiClient, keywordId: string, expected: number): Promise<SeenMention[]> {
  const end = Date.now() + MENTIONS_WITHIN_MS;
  for (;;) {
    const found = (await api.all(`/v1/queries/${keywordId}/results?limit=200`)) as SeenMention[];
    if (found.length >= expected || Date.now() > end) return found;
    await wait(3000);
  }
}
