/**
 * Measures the time of an item from the upstream to its webhook through the whole installation, at a fixed
 * rate that is independent of responses. The baseline is a bare loop that searches the same upstream and sends
 * the found items by POST. The variants take turns in one run. `npm run -s build && node dist/bench/pipeline.js`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Pool } from 'undici';
import { OpenAccountSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus } from '#messaging';
import { createLogger } from '#telemetry';
import { CommandClient } from '#transport';
import {
  benchStores,
  helpWanted,
  load,
  median,
  numberOption,
  quantile,
  runBench,
  printProgress,
  table,
  temporaryDirectory,
  textOption,
} from './harness.js';
import { Peer } from './peer.js';
import type { BarePolling } from './pipeline/bare-poller.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/pipeline.js [--rate 200] [--seconds 15] [--rounds 3] [--only read|unread]

Prints the milliseconds from an item to its webhook, p50 and p99, of Earshot and of the bare loop: from the time when the item
was due to appear, from the arrival of the poll that saw it, and from the end of that check. Then prints the ratio of Earshot
with and without sentiment and intent. Takes about three minutes. With --only, the installation has one keyword instead of two:
with sentiment and intent (read), or without them (unread).
`);

const RATE = numberOption('rate', 200);
const SECONDS = numberOption('seconds', 15);
const ROUNDS = numberOption('rounds', 3);
const ONLY = textOption('only', ['read', 'unread']);
/** The keywords of the installation. */
const EARSHOT: readonly ('ours' | 'unread')[] =
  ONLY === undefined ? ['ours', 'unread'] : [ONLY === 'unread' ? 'unread' : 'ours'];
const ITEMS = RATE * SECONDS;
const INTERVAL_SECONDS = 1;
const DELIVERED_WITHIN_MS = 60_000;

/**
 * `ours` is Earshot with sentiment and intent, `unread` is Earshot without them, and `bare` is the bare loop.
 */
type Variant = 'ours' | 'unread' | 'bare';

const NAMES: Readonly<Record<Variant, string>> = {
  ours: 'ours',
  unread: 'ours without sentiment and intent',
  bare: 'bare loop',
};

/** Milliseconds until the webhook, one value of each kind for every item. */
interface Latencies {
  fromDue: number[];
  fromPoll: number[];
  fromCheck: number[];
}

interface Delivery {
  /** The time at which the receiver got the webhook. */
  at: string;
  body: string;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const simulator = await startProgram('simulator', { PATH: process.env.PATH }, cleanup, {
    args: (port) => ['--port', String(port), '--rate', '0', '--history', '0', '--quiet'],
    ready: '/_sim/stats',
  });
  const upstream = new Pool(simulator.url, { connections: 16 });
  const env = programEnv(stores, {
    DATA_DIR: temporaryDirectory(cleanup),
    SOURCE_HACKERNEWS_URL: simulator.url,
    INTERVAL_FLOOR_SECONDS: String(INTERVAL_SECONDS),
  });
  const installation = await startProgram('earshot', env, cleanup);
  const owner = await openAccount(stores.natsUrl, upstream);
  for (const who of EARSHOT) await watchTerm(who, owner, installation.url, simulator.url);
  const bare = await Peer.start(new URL('./pipeline/bare-poller.js', import.meta.url));
  cleanup.add(() => bare.stop());
  const found = { ours: none(), unread: none(), bare: none() };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const label = round === 0 ? 'warming up' : `round ${round}`;
    const measure = async (who: Variant) => {
      const one = await slice(upstream, who, `${round}`);
      printProgress(
        `${label}, ${NAMES[who]}: p99 from the poll ${shown(quantile(one.fromPoll, 0.99))} ms, load ${load()}`,
      );
      if (round > 0) add(found[who], one);
    };
    for (const who of EARSHOT) await measure(who);
    const polling: BarePolling = {
      ...{ url: simulator.url, hook: 'bare', term: termOf('bare'), everyMs: INTERVAL_SECONDS * 1000 },
    };
    await bare.ask('start', polling);
    await measure('bare');
    await bare.ask('stop');
  }
  for (const who of EARSHOT) report(who, found[who], found.bare);
  if (EARSHOT.length > 1) reportReadings(found.ours, found.unread);
});

/** @returns the key of an account whose webhooks the receiver can verify */
async function openAccount(natsUrl: string, upstream: Pool): Promise<string> {
  const bus = await connectBus(natsUrl, 'bench', createLogger('bench', 'error'));
  const command = create(OpenAccountSchema, {
    commandId: newId(),
    email: 'bench@example.org',
    plan: 'unlimited',
  });
  const { apiKey, signingSecret } = await new CommandClient(bus).request(COMMANDS.openAccount, command);
  await bus.close();
  for (const name of ['ours', 'unread'])
    await post(upstream, '/hooks/_secrets', { name, secret: signingSecret });
  return apiKey;
}

/** Creates a keyword on hackernews, and waits for the first poll of its watch. */
async function watchTerm(
  who: 'ours' | 'unread',
  apiKey: string,
  gatewayUrl: string,
  hooksUrl: string,
): Promise<void> {
  const gateway = new Pool(gatewayUrl);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const made = await gateway.request({
    method: 'POST',
    path: '/v1/keywords',
    headers,
    body: JSON.stringify({
      name: `bench ${who}`,
      refreshIntervalSeconds: INTERVAL_SECONDS,
      globalCriteria: { market: 'global', query: termOf(who) },
      sentimentEnabled: who === 'ours',
      sources: [{ source: 'hackernews', enabled: true }],
      webhookUrl: `${hooksUrl}/hooks/${who}`,
    }),
  });
  const keyword = (await made.body.json()) as { id: string };
  if (made.statusCode !== 201) throw new Error(`the keyword was refused: ${JSON.stringify(keyword)}`);
  for (;;) {
    const { body } = await gateway.request({ method: 'GET', path: `/v1/keywords/${keyword.id}`, headers });
    const { watches } = (await body.json()) as { watches: { lastStatus: string | null }[] };
    if (watches.every(({ lastStatus }) => lastStatus === 'completed')) break;
    await wait(100);
  }
  await gateway.close();
}

/**
 * Publishes the items of one slice (one variant in one round) on schedule, and waits for their webhooks. Before that,
 * removes the items of earlier slices from the upstream: each poll reads the feed of the last ten minutes, so these
 * items would cost time.
 */
async function slice(upstream: Pool, who: Variant, round: string): Promise<Latencies> {
  await remove(upstream, `/hooks/${who}/deliveries`);
  await remove(upstream, '/_sim/posts?source=hackernews');
  const due = await publishByTheClock(upstream, `${termOf(who)} slice ${round} number`);
  const end = Date.now() + DELIVERED_WITHIN_MS;
  for (let arrived = 0; arrived < ITEMS;) {
    if (Date.now() > end) throw new Error(`only ${arrived} of ${ITEMS} items arrived`);
    await wait(500);
    const stats = await get<{ receiver: Record<string, { distinct: number }> }>(upstream, '/_sim/stats');
    arrived = stats.receiver[who]?.distinct ?? 0;
  }
  const { deliveries } = await get<{ deliveries: Delivery[] }>(upstream, `/hooks/${who}/deliveries`);
  return latenciesOf(deliveries, due, await pollsOf(upstream, who));
}

/** @returns the time at which each item was due, by its number */
async function publishByTheClock(upstream: Pool, words: string): Promise<number[]> {
  const began = Date.now();
  const due = Array.from({ length: ITEMS }, (_, n) => began + (n * 1000) / RATE);
  const sent: Promise<void>[] = [];
  // A late item is sent as soon as possible. Its latency still counts from the time at which it was due.
  while (sent.length < ITEMS) {
    const now = Date.now();
    while (sent.length < ITEMS && (due[sent.length] ?? 0) <= now)
      sent.push(
        post(upstream, '/_sim/posts', {
          source: 'hackernews',
          kind: 'comment',
          text: `${words} ${sent.length}.`,
        }),
      );
    await wait(1);
  }
  await Promise.all(sent);
  return due;
}

/** Returns the times at which the variant's polls reached the upstream, oldest first. */
async function pollsOf(upstream: Pool, who: Variant): Promise<number[]> {
  const { requests } = await get<{ requests: { at: string; url: string }[] }>(
    upstream,
    '/_sim/requests?source=hackernews',
  );
  return requests
    .filter(({ url }) => url.includes('client=bare') === (who === 'bare'))
    .map(({ at }) => Date.parse(at));
}

function latenciesOf(
  deliveries: readonly Delivery[],
  due: readonly number[],
  polls: readonly number[],
): Latencies {
  const found = none();
  const seen = new Set<number>();
  for (const { at, body } of deliveries) {
    const { item, occurredAt } = JSON.parse(body) as { item: { text: string }; occurredAt: string };
    const number = Number(/number (\d+)\./.exec(item.text)?.[1]);
    if (seen.has(number)) continue;
    seen.add(number);
    const [received, checked] = [Date.parse(at), Date.parse(occurredAt)];
    // The two searches of Earshot share each read of the feed, so the last poll before the end of a check belongs to
    // this check.
    const poll = polls.findLast((began) => began <= checked) ?? Number.NaN;
    found.fromDue.push(received - (due[number] ?? Number.NaN));
    found.fromPoll.push(received - poll);
    found.fromCheck.push(received - checked);
  }
  if (seen.size !== ITEMS) throw new Error(`${seen.size} of ${ITEMS} items were distinguished`);
  return found;
}

function report(who: Variant, ours: Latencies, bare: Latencies): void {
  console.log(
    `Item to webhook, ${NAMES[who]}, at ${RATE} items/s, polled every ${INTERVAL_SECONDS} s; ${ROUNDS} slices of ${SECONDS} s each, in turn. Milliseconds (load ${load()}).\n`,
  );
  const row = (name: string, times: (one: Latencies) => number[]) => [
    name,
    ...[ours, bare].flatMap((one) => [shown(median(times(one))), shown(quantile(times(one), 0.99))]),
    (quantile(times(ours), 0.99) / quantile(times(bare), 0.99)).toFixed(2),
  ];
  table(
    ['to the webhook, measured from', 'ours p50', 'ours p99', 'bare p50', 'bare p99', 'p99 ours / bare'],
    [
      row('the time when it was due (includes the wait for the poll)', ({ fromDue }) => fromDue),
      row('the arrival of its poll at the upstream', ({ fromPoll }) => fromPoll),
      row('the end of its check (occurredAt)', ({ fromCheck }) => fromCheck),
    ],
  );
}

/** Reports how much sentiment and intent delay a webhook: at most 15 % is wanted. */
function reportReadings(read: Latencies, unread: Latencies): void {
  const ratio = (part: number) =>
    (quantile(read.fromPoll, part) / quantile(unread.fromPoll, part)).toFixed(2);
  console.log(
    `\nWith sentiment and intent / without, from the poll to the webhook: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}; at most 1.15 wanted`,
  );
}

function termOf(who: Variant): string {
  return { ours: 'quixotwo', unread: 'vexatrine', bare: 'zephyrone' }[who];
}

function none(): Latencies {
  return { fromDue: [], fromPoll: [], fromCheck: [] };
}

function add(all: Latencies, more: Latencies): void {
  for (const key of ['fromDue', 'fromPoll', 'fromCheck'] as const) all[key].push(...more[key]);
}

function shown(ms: number): string {
  return ms.toFixed(0);
}

async function post(upstream: Pool, path: string, body: object): Promise<void> {
  const { statusCode, body: answer } = await upstream.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.dump();
  if (statusCode >= 300) throw new Error(`${path} was answered with ${statusCode}`);
}

async function remove(upstream: Pool, path: string): Promise<void> {
  const { statusCode, body } = await upstream.request({ method: 'DELETE', path });
  await body.dump();
  if (statusCode >= 300) throw new Error(`${path} was answered with ${statusCode}`);
}

async function get<T>(upstream: Pool, path: string): Promise<T> {
  const { body } = await upstream.request({ method: 'GET', path });
  return (await body.json()) as T;
}
