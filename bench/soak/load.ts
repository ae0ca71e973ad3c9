import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { newId } from '#kernel';

/** The installation and the keywords that the load reads. */
export interface LoadTarget {
  url: string;
  apiKey: string;
  keywordIds: readonly string[];
  /** The address for webhook tests. */
  hookUrl: string;
}

interface Answer {
  status: number;
  text: string;
}

type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** One kind of request: its work, its share of all requests, and its expected statuses. */
interface Kind {
  name: string;
  share: number;
  expectedStatuses: readonly number[];
  /** Maximum number of concurrent runs; further runs are skipped. */
  max?: number;
  run(ask: Ask, target: LoadTarget): Promise<Answer>;
}

const keyword = (name: string) => ({
  name,
  refreshIntervalSeconds: 5,
  globalCriteria: { market: 'global', query: 'Acme Rocket' },
  sources: [
    { source: 'hackernews', enabled: true },
    { source: 'bluesky', enabled: true },
  ],
});
const oneOf = <T>(values: readonly T[]) => values[Math.floor(Math.random() * values.length)] as T;
/** Time for a keyword's first checks. */
const FIRST_CHECKS_MS = 8_000;
const RETRIES = 20;
const RETRY_AFTER_MS = 3_000;
const LABELS = ['to_reply', 'starred', 'flagged'];

/** Maximum number of concurrent requests. */
const MAX_CONCURRENT_REQUESTS = 400;

/** The share of each kind is its number among 200 requests. */
const KINDS: readonly Kind[] = [
  { name: 'mentions', share: 40, expectedStatuses: [200], run: (ask) => ask('GET', '/v1/mentions?limit=50') },
  {
    name: 'mentions with a text',
    share: 10,
    expectedStatuses: [200],
    run: (ask) => ask('GET', '/v1/mentions?q=rocket&source=reddit&source=bluesky&include=dropped'),
  },
  {
    name: 'results of a keyword',
    share: 20,
    expectedStatuses: [200],
    run: (ask, { keywordIds }) => ask('GET', `/v1/keywords/${oneOf(keywordIds)}/results?limit=100`),
  },
  {
    name: 'series',
    share: 20,
    expectedStatuses: [200],
    run: (ask) => ask('GET', '/v1/mentions/series?bucket=hour&group=source'),
  },
  {
    name: 'activity',
    share: 20,
    expectedStatuses: [200],
    run: (ask, { keywordIds }) => ask('GET', `/v1/keywords/${oneOf(keywordIds)}/activity?limit=200`),
  },
  {
    name: 'deliveries',
    share: 6,
    expectedStatuses: [200],
    run: (ask) => ask('GET', '/v1/deliveries?limit=50'),
  },
  {
    name: 'export',
    share: 4,
    expectedStatuses: [200],
    run: (ask) => ask('GET', '/v1/mentions/export?format=csv'),
  },
  {
    name: 'estimate',
    share: 20,
    expectedStatuses: [200],
    run: (ask) => ask('POST', '/v1/keywords/estimate', keyword('Soak')),
  },
  // The number of keywords that exist at the same time is also bounded, because each is polled.
  { name: 'create and purge', share: 6, expectedStatuses: [204], max: 8, run: createAndPurge },
  { name: 'labels', share: 10, expectedStatuses: [200], run: changeLabels },
  {
    name: 'webhook test',
    share: 1,
    expectedStatuses: [200],
    run: (ask, { hookUrl }) => ask('POST', '/v1/webhooks/test', { url: hookUrl }),
  },
  {
    name: 'refused body',
    share: 13,
    expectedStatuses: [400],
    run: (ask) => ask('POST', '/v1/keywords', oneOf(REFUSED)),
  },
  {
    name: 'refused large body',
    share: 1,
    expectedStatuses: [400, 413],
    run: (ask) => ask('POST', '/v1/keywords', { ...keyword('Soak'), sources: Array(200_000).fill(7) }),
  },
  {
    name: 'bad key',
    share: 9,
    expectedStatuses: [401],
    run: (ask) => ask('GET', '/v1/mentions', undefined, { 'x-api-key': `nobody-${newId()}` }),
  },
  {
    name: 'unknown keyword',
    share: 20,
    expectedStatuses: [404],
    run: (ask) => ask('GET', `/v1/keywords/${newId()}`),
  },
];
const REFUSED: readonly unknown[] = [
  { ...keyword('Soak'), name: '' },
  { ...keyword('Soak'), sources: [] },
  { ...keyword('Soak'), nonsense: true },
  { ...keyword('Soak'), globalCriteria: { terms: ['one'] } },
  'no object',
];

async function createAndPurge(ask: Ask): Promise<Answer> {
  const body = keyword(`Soak ${newId()}`);
  const headers = { 'idempotency-key': newId() };
  const created = await untilDone(() => ask('POST', '/v1/keywords', body, headers));
  if (created.status !== 201) return created;
  const { id } = JSON.parse(created.text) as { id: string };
  await wait(FIRST_CHECKS_MS);
  let isRepeated = false;
  return untilDone(async () => {
    const answer = await ask('DELETE', `/v1/keywords/${id}?purge=true`);
    const wasDoneBefore = isRepeated && answer.status === 404;
    isRepeated = true;
    return wasDoneBefore ? { ...answer, status: 204 } : answer;
  });
}

/**
 * Repeats an attempt while the response is 503, at most 20 times. A busy installation can respond with 503 after it has
 * done the work, and a keyword that is never purged would remain as load.
 */
async function untilDone(attempt: () => Promise<Answer>): Promise<Answer> {
  for (let left = RETRIES; ; left -= 1) {
    const answer = await attempt();
    if (answer.status !== 503 || left === 0) return answer;
    await wait(RETRY_AFTER_MS);
  }
}

async function changeLabels(ask: Ask): Promise<Answer> {
  const page = await ask('GET', '/v1/mentions?limit=50');
  if (page.status !== 200) return page;
  const { data } = JSON.parse(page.text) as { data: { id: string }[] };
  const labels = Math.random() < 0.5 ? [oneOf(LABELS)] : [];
  return data.length === 0 ? page : ask('PATCH', `/v1/mentions/${oneOf(data).id}`, { labels });
}

/** The results of one kind of request. */
export interface KindResult {
  sent: number;
  /** Unexpected responses by status; 0 for no response. */
  wrong: Map<number, number>;
}

/** Sends requests of many kinds at a fixed rate, independent of responses. */
export class Load {
  readonly results = new Map<string, KindResult>();
  /** Requests that were skipped because too many were running. */
  leftOut = 0;
  private readonly running = new Map<Kind, number>();
  private readonly pool: Pool;
  private readonly order = shuffled(KINDS.flatMap((kind) => Array<Kind>(kind.share).fill(kind)));
  private readonly open = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private next = 0;

  constructor(
    private readonly target: LoadTarget,
    private readonly perSecond: number,
  ) {
    this.pool = new Pool(target.url, { connections: 32 });
  }

  start(): void {
    const began = performance.now();
    this.timer = setInterval(() => {
      const due = ((performance.now() - began) / 1000) * this.perSecond;
      while (this.next < due) this.send(this.order[this.next++ % this.order.length]!);
    }, 20);
  }

  /** Stops sending, and waits for running requests. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.open);
    if (!this.pool.closed) await this.pool.close();
  }

  private send(kind: Kind): void {
    const running = this.running.get(kind) ?? 0;
    if (this.open.size >= MAX_CONCURRENT_REQUESTS || running >= (kind.max ?? Infinity)) {
      this.leftOut += 1;
      return;
    }
    const results = this.results.get(kind.name) ?? { sent: 0, wrong: new Map<number, number>() };
    this.results.set(kind.name, results);
    results.sent += 1;
    this.running.set(kind, running + 1);
    const done = kind
      .run((...asked) => this.ask(...asked), this.target)
      .catch((): Answer => ({ status: 0, text: '' }))
      .then(({ status }) => {
        if (!kind.expectedStatuses.includes(status))
          results.wrong.set(status, (results.wrong.get(status) ?? 0) + 1);
      })
      .finally(() => {
        this.open.delete(done);
        this.running.set(kind, (this.running.get(kind) ?? 1) - 1);
      });
    this.open.add(done);
  }

  private async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const { statusCode, body: answer } = await this.pool.request({
      method: method as 'GET',
      path,
      headers: {
        'x-api-key': this.target.apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: 60_000,
    });
    return { status: statusCode, text: await answer.text() };
  }
}

/** Returns the kinds in an order that spreads them evenly. Every run sends the same kinds in this order. */
function shuffled<T>(values: readonly T[]): T[] {
  const size = values.length;
  // 79 and the sum of the shares are coprime, so every index occurs once.
  return values.map((_, n) => values[(n * 79) % size] as T);
}
