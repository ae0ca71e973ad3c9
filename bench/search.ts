/**
 * Measures the search by meaning: its precision on labelled data, and its duration among a million mentions.
 * `npm run -s build && npm run bench:search`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { compress, fromBfloat16, SentenceEncoder } from '#embeddings';
import { openDatabase, type Database } from '#postgres';
import {
  benchStores,
  helpWanted,
  median,
  numberOption,
  quantile,
  runBench,
  printProgress,
  table,
  target,
} from './harness.js';
import { programEnv, startProgram } from './program.js';
import { Bm25, contentWords, spearman, Sums } from './search/baseline.js';
import { hasReadings, retrieval, similarities, type Retrieval } from './search/data.js';
import { Asker, fillAccount, openAsker, settle, storeTexts } from './search/filled-account.js';

helpWanted(`
Usage: node dist/bench/search.js [--mentions 1000000] [--few 10000] [--questions 200] [--texts 4000] [--queries 600]

Measures GET /v1/mentions?mode=semantic through gateway and analysis, where each question is charged. First measures the
precision on the data of ../shared/readings, if they exist, compared with BM25 over the same texts. Then measures the duration
for accounts with many and with few mentions. Takes about four minutes.
`);

const MENTIONS = numberOption('mentions', 1_000_000);
const FEW = numberOption('few', 10_000);
const QUESTIONS = numberOption('questions', 200);
const TEXTS = numberOption('texts', 4_000);
const QUERIES = numberOption('queries', 600);
const TOP = 10;

interface Bench {
  database: Database;
  clickhouse: ClickHouseClient;
  gatewayUrl: string;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => database.destroy());
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'bench');
  cleanup.add(() => clickhouse.close());
  await startProgram('analysis', programEnv(stores), cleanup);
  const { url: gatewayUrl } = await startProgram('gateway', programEnv(stores), cleanup);
  const bench = { database, clickhouse, gatewayUrl };
  await encoding();
  if (hasReadings())
    for (const name of ['clinc150', 'banking77']) await quality(bench, retrieval(name, TEXTS, QUERIES));
  else printProgress('../shared/readings is absent: the precision of the search was not measured');
  await speed(bench, FEW, 30);
  await speed(bench, MENTIONS, 150);
});

/**
 * Measures the processor time of an embedding, and how well the similarity of embeddings agrees with human
 * readers.
 */
async function encoding(): Promise<void> {
  const encoder = await SentenceEncoder.load();
  const text =
    'My handset is empty long before lunch, it hardly lasts the morning, and the shop does not answer.';
  await encoder.encode([text]);
  const before = process.cpuUsage();
  await encoder.encode(Array.from({ length: 500 }, () => text));
  const { user, system } = process.cpuUsage(before);
  console.log(
    `embedding of ${text.split(' ').length} words: ${((user + system) / 500).toFixed(0)} µs of processor time`,
  );
  if (!hasReadings()) return;
  const pairs = similarities();
  const [a, b] = [
    await encoder.encode(pairs.map((pair) => pair.a)),
    await encoder.encode(pairs.map((pair) => pair.b)),
  ];
  const cosines = (left: readonly Float32Array[], right: readonly Float32Array[]) =>
    left.map((one, n) => one.reduce((sum, value, k) => sum + value * right[n]![k]!, 0));
  const people = pairs.map(({ score }) => score);
  target('STS-b, Spearman, 512 numbers', spearman(people, cosines(a, b)), 0.7, 'at least');
  const stored = (all: readonly Float32Array[]) => all.map((one) => fromBfloat16(compress(one)));
  target('STS-b, Spearman, as stored', spearman(people, cosines(stored(a), stored(b))), 0.7, 'at least');
}

/**
 * Measures the precision of the first ten answers, and how many of them share no content word with the question,
 * compared with BM25 over the same texts.
 */
async function quality(
  { database, clickhouse, gatewayUrl }: Bench,
  { name, texts, queries }: Retrieval,
): Promise<void> {
  const account = await openAsker(database);
  const ids = await storeTexts(
    clickhouse,
    account.accountId,
    texts.map(({ text }) => text),
  );
  const indexOf = new Map(ids.map((id, n) => [id, n]));
  const asker = new Asker(gatewayUrl, account);
  const bm25 = new Bm25(texts.map(({ text }) => text));
  const contents = texts.map(({ text }) => contentWords(text));
  const sums = { ours: new Sums(TOP), words: new Sums(TOP) };
  for (const { intent, text } of queries) {
    const answers = [...texts.keys()].filter((n) => texts[n]!.intent === intent);
    const words = contentWords(text);
    const unlike = new Set(answers.filter((n) => ![...words].some((word) => contents[n]!.has(word))));
    const found = (await asker.ask(text, TOP)).map((id) => indexOf.get(id) ?? -1);
    sums.ours.add(found, new Set(answers), unlike);
    sums.words.add(bm25.best(text, TOP), new Set(answers), unlike);
  }
  await asker.close();
  table(
    [
      `${name}: ${queries.length} questions, ${texts.length} texts`,
      'P@10',
      'found unlike',
      'share of unlike',
    ],
    [
      ['mode=semantic', ...sums.ours.figures()],
      ['BM25', ...sums.words.figures()],
    ],
  );
  if (name !== 'clinc150') return;
  target('clinc150: P@10 / BM25', sums.ours.precision / sums.words.precision, 1.25, 'at least');
  target(
    'clinc150: questions with an answer among ten that shares no content word',
    sums.ours.hits,
    0.2,
    'at least',
  );
}

async function speed(
  { database, clickhouse, gatewayUrl }: Bench,
  mentions: number,
  wanted: number,
): Promise<void> {
  const account = await openAsker(database);
  await fillAccount(clickhouse, account.accountId, mentions);
  await settle(clickhouse, wait);
  const asker = new Asker(gatewayUrl, account);
  const timesOf = async (more: string, count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const began = performance.now();
      const found = await asker.ask(
        `How do I change the ${n}th part of my ${more || 'phone'} without help?`,
        50,
        more,
      );
      times.push(performance.now() - began);
      if (found.length === 0) throw new Error('nothing was found');
    }
    return times;
  };
  await timesOf('&lang=en&lang=de', 5);
  const plain = await timesOf('', QUESTIONS);
  const filtered = await timesOf('&author=author7', 20);
  await asker.close();
  table(
    [`${mentions.toLocaleString('en')} mentions of one account, ms`, 'p50', 'p95'],
    [
      ['a question, 50 mentions', median(plain).toFixed(1), quantile(plain, 0.95).toFixed(1)],
      [
        'with an author, ranked among the mentions of this author',
        median(filtered).toFixed(1),
        quantile(filtered, 0.95).toFixed(1),
      ],
    ],
  );
  target(`${mentions.toLocaleString('en')} mentions: p95, ms`, quantile(plain, 0.95), wanted, 'at most');
}
