import { startLocalReader } from '#readers';
import { languageOf } from '#readers/models';
import { table, target } from '../harness.js';
import { labelled } from './data.js';
import { requestFor, type BenchReader } from './read.js';

const POSTS = 4_000;
const ROUNDS = 3;
const SUBJECT = { names: ['Acme'], role: 'own' as const };
const MIB = 1024 * 1024;

/** Prints how much processor time each kind of reading takes for one post. */
export async function measureCost(reader: BenchReader): Promise<void> {
  const rows = labelled('sentiment/tweets.dev.tsv')?.slice(0, POSTS);
  if (!rows) return;
  const requests = rows.map(({ text = '' }) => requestFor(text, SUBJECT));
  const light = requests.map((request) => ({ ...request, analysis: false }));
  const micros = async (run: () => unknown) => {
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const began = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(began);
      // The first round warms up.
      if (round > 0) times.push((user + system) / requests.length);
    }
    return Math.min(...times);
  };
  const language = await micros(() => requests.forEach(({ item }) => languageOf(item.text)));
  const free = await micros(() =>
    light.forEach((request) => reader.reader.read(reader.reader.prepare(request))),
  );
  const all = await micros(() =>
    requests.forEach((request) => reader.reader.read(reader.reader.prepare(request))),
  );
  const embedding = await micros(async () => {
    for (const { item } of requests.slice(0, POSTS / 4)) await reader.embed(item.text);
  });
  console.log(`\nProcessor time per post, µs (${requests.length} tweets, best of ${ROUNDS} rounds)`);
  table(
    ['reading', 'µs'],
    [
      ['language', language.toFixed(0)],
      ['language and relevance', free.toFixed(0)],
      ['language, relevance, sentiment, intent', all.toFixed(0)],
      ['sentence embedding', (embedding * 4).toFixed(0)],
    ],
  );
  target('µs for all readings without the embedding', all, 300, 'at most');
  target('µs for the embedding', embedding * 4, 2_500, 'at most');
}

/**
 * Prints the memory that one reading thread adds to its process. Must run before this process loads a reader itself.
 */
export async function measureMemory(): Promise<void> {
  const rows = labelled('sentiment/tweets.dev.tsv')?.slice(0, POSTS);
  if (!rows) return;
  const requests = rows.map(({ text = '' }) => requestFor(text, SUBJECT));
  const before = process.memoryUsage().rss;
  const pool = startLocalReader({ workers: 1 });
  for (let from = 0; from < requests.length; from += 100) await pool.read(requests.slice(from, from + 100));
  const grown = (process.memoryUsage().rss - before) / MIB;
  await pool.close();
  target('MiB that one reading thread adds to its process', grown, 200, 'at most');
}
