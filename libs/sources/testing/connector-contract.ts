import type { Criteria, MatchMode } from '#contracts';
import { OutboundError } from '#http-out';
import { SPEC_NOW, fakeContext, fakeUpstream, type FakeAnswer, type FakeRequest } from './fake-upstream.js';
import { UpstreamError, type FetchContext, type Fetched, type SourceConnector } from '../source.js';

// Only for specs: the behaviour that all sources share, tested with each of them.

/** An invented post: number 1 is the newest. */
export interface FakePost {
  n: number;
  at: Date;
}

/** The data of one source for the contract. */
export interface ContractCase {
  create(): SourceConnector;
  criteria: Criteria;
  /** Default `word`. */
  match?: MatchMode;
  /**
   * Returns the source's response to one request, if the source has exactly these posts (newest first). If the source
   * has pages, the response is the requested page.
   */
  serve(posts: readonly FakePost[], request: FakeRequest): FakeAnswer;
  /** Returns the response to a sign-in request; undefined for every other request. */
  signIn?(request: FakeRequest): FakeAnswer | undefined;
  /** Returns the response to requests for details of a page's items; undefined for every other request. */
  detail?(request: FakeRequest): FakeAnswer | undefined;
  /** Posts on one page; absent for a source that has no pages. */
  pageSize?: number;
  itemIdOf(n: number): string;
  /** True if the source has no dates. Then items have no `publishedAt` and keep the order of the source. */
  undated?: true;
  /** True if the source answers every question, so that there is no empty response. */
  neverEmpty?: true;
  /** Bodies that the connector must refuse, because the source does not answer with this structure. */
  changedShapes: readonly (object | string)[];
}

const STEP_MS = 60_000;
const LAST_WEEK = new Date(SPEC_NOW.getTime() - 7 * 86_400_000);

/** Runs the contract. */
export function describeConnector(name: string, source: ContractCase): void {
  const read = async (answer: (request: FakeRequest) => FakeAnswer, more: Partial<FetchContext> = {}) => {
    const connector = source.create();
    const extraAnswer = (request: FakeRequest) => source.signIn?.(request) ?? source.detail?.(request);
    const upstream = fakeUpstream(connector.id, (request) => extraAnswer(request) ?? answer(request));
    const context = fakeContext(upstream.http, {
      since: LAST_WEEK,
      match: source.match ?? 'word',
      ...more,
    });
    const fetched = await connector.search(source.criteria, context);
    const asked = upstream.requests.filter((request) => !extraAnswer(request));
    return { fetched, asked };
  };
  const faultOf = (answer: FakeAnswer) => faultOfRead(read(() => answer));

  describe(`the contract of every source, applied to ${name}:`, () => {
    describeFaults(source, faultOf);
    describeItems(source, read);
    if (source.pageSize !== undefined) describePaging(source, source.pageSize, read);
  });
}

type Read = (
  answer: (request: FakeRequest) => FakeAnswer,
  more?: Partial<FetchContext>,
) => Promise<{ fetched: Fetched; asked: FakeRequest[] }>;

function describeFaults(source: ContractCase, faultOf: (answer: FakeAnswer) => Promise<UpstreamError>): void {
  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [410, 'gone'],
    [429, 'rate_limited'],
    [418, 'unexpected_status'],
    [500, 'server_error'],
    [503, 'server_error'],
  ])('an answer with status %i is the fault "%s", with the source and the status', async (status, kind) => {
    const fault = await faultOf({ status, body: { error: status } });
    expect([fault.kind, fault.statusCode]).toEqual([kind, status]);
    expect(fault.message).toContain(`${source.create().id} answered ${status}`);
  });

  it('the fault of a 429 contains the time to wait, whether the header has seconds or a date', async () => {
    const inSeconds = await faultOf({ status: 429, headers: { 'retry-after': '7' } });
    expect(inSeconds.retryAfterMs).toBe(7_000);
    const date = new Date(SPEC_NOW.getTime() + 90_000).toUTCString();
    expect((await faultOf({ status: 429, headers: { 'retry-after': date } })).retryAfterMs).toBe(90_000);
  });

  it('a page of HTML is a fault', async () => {
    const fault = await faultOf({ body: '\n<!doctype html><html><head><title>Wait</title></head></html>' });
    expect(fault.kind).toBe('not_parsable');
    expect(fault.message).toMatch(/answered HTML where .+ was expected/);
  });

  it('an empty body is a fault', async () => {
    expect((await faultOf({ body: '' })).kind).toBe('not_parsable');
  });

  it('an incomplete answer is a fault', async () => {
    const whole = bodyText(source.serve(postsOf(3), requestOf()));
    expect((await faultOf({ body: whole.slice(0, whole.length / 4) })).kind).toBe('truncated');
  });

  it.each(source.changedShapes.map((shape) => [shape]))(
    'an answer of unknown shape is a fault: %j',
    async (body) => {
      expect((await faultOf({ body })).kind).toBe('unknown_shape');
    },
  );

  it.each(['timeout', 'network', 'blocked', 'too_large'] as const)(
    'the network fault %s is reported',
    async (kind) => {
      const fault = await faultOf(new OutboundError(kind, 'example.org did not answer'));
      expect(fault.kind).toBe(kind);
      expect(fault.message).toContain('example.org did not answer');
    },
  );
}

function describeItems(source: ContractCase, read: Read): void {
  (source.neverEmpty ? it.skip : it)('an empty answer is not a fault and has no items', async () => {
    const { fetched } = await read((request) => source.serve([], request));
    expect(fetched).toEqual({ items: [], gap: false, warnings: [] });
  });

  it('items have the fields that all sources share, are sorted newest first, and each item occurs once', async () => {
    const { fetched } = await read((request) => source.serve(postsOf(3), request));
    expect(fetched.items.map((item) => item.itemId)).toEqual([1, 2, 3].map(source.itemIdOf));
    expect(fetched.items.map((item) => item.publishedAt)).toEqual(
      postsOf(3).map(({ at }) => (source.undated ? undefined : at.toISOString())),
    );
    for (const item of fetched.items) {
      expect(item.source).toBe(source.create().id);
      expect(item.eventType).toMatch(/^[a-z_]+\.created$/);
      expect(item.kind).not.toBe('');
      expect(item.url).toMatch(/^https?:\/\//);
      expect(`${item.title}${item.text}`).not.toMatch(/^\s*$/);
      expect(item.author ?? '').not.toMatch(/^(@|u\/)/);
      const body = JSON.parse(item.bodyJson) as Record<string, unknown>;
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining(['id', 'source', 'url', 'author', 'publishedAt']),
      );
      expect(body['source']).toBe(item.source);
      expect(body['publishedAt']).toBe(item.publishedAt ?? null);
    }
  });

  it('`datesByOurClock` of a connector is true if, and only if, the connector dates items by our clock', async () => {
    const { fetched } = await read((request) => source.serve(postsOf(3), request));
    const datesItems = fetched.items.some(({ happenedAt }) => happenedAt !== undefined);
    expect(source.create().datesByOurClock ?? false).toBe(datesItems);
  });

  it('the same answer results in the same items', async () => {
    const first = await read((request) => source.serve(postsOf(3), request));
    const second = await read((request) => source.serve(postsOf(3), request));
    expect(second.fetched).toEqual(first.fetched);
  });
}

function describePaging(source: ContractCase, pageSize: number, read: Read): void {
  const posts = postsOf(pageSize * 4);
  const serve = (request: FakeRequest) => source.serve(posts, request);

  it('a first poll reads one page and reports no gap', async () => {
    const { fetched, asked } = await read(serve, { since: undefined });
    expect([fetched.items.length, fetched.gap, asked.length]).toEqual([pageSize, false, 1]);
  });

  it('a later check reads pages until it finds a known item', async () => {
    const knownId = source.itemIdOf(pageSize + 5);
    const { fetched, asked } = await read(serve, { known: (itemId) => itemId === knownId });
    expect([fetched.gap, asked.length]).toEqual([false, 2]);
    expect(fetched.items.map((item) => item.itemId)).toContain(knownId);
  });

  it('a later check reads pages until `since`', async () => {
    const since = posts[pageSize + Math.floor(pageSize / 2)]?.at;
    const { fetched, asked } = await read(serve, { since });
    expect([fetched.gap, asked.length]).toEqual([false, 2]);
    const wanted = posts.filter(({ at }) => since && at > since).map(({ n }) => source.itemIdOf(n));
    expect(fetched.items.map((item) => item.itemId)).toEqual(expect.arrayContaining(wanted));
  });

  it('a read ends and reports a gap if it reaches the page cap before a known item and before `since`', async () => {
    const { fetched, asked } = await read(serve, { pageCap: 3 });
    expect([fetched.gap, asked.length]).toEqual([true, 3]);
    expect(new Set(fetched.items.map((item) => item.itemId)).size).toBe(fetched.items.length);
  });

  it('a read that reaches the last page reports no gap', async () => {
    const { fetched } = await read(serve, { pageCap: 9 });
    expect([fetched.items.length, fetched.gap]).toEqual([posts.length, false]);
  });
}

function postsOf(count: number): FakePost[] {
  return Array.from({ length: count }, (_, index) => ({
    n: index + 1,
    at: new Date(SPEC_NOW.getTime() - (index + 1) * STEP_MS),
  }));
}

async function faultOfRead(reading: Promise<unknown>): Promise<UpstreamError> {
  const fault: unknown = await reading.then(
    (result) => new Error(`the read succeeded: ${JSON.stringify(result)}`),
    (error: unknown) => error,
  );
  if (!(fault instanceof UpstreamError)) throw fault;
  return fault;
}

function bodyText(answer: FakeAnswer): string {
  if (answer instanceof OutboundError) return '';
  if (answer.body instanceof Uint8Array) return Buffer.from(answer.body).toString();
  return typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
}

// A request for the first page: it contains a page size, but no number or cursor of a page.
function requestOf(): FakeRequest {
  const url = 'https://example.org/?limit=100&hitsPerPage=100';
  return { method: 'GET', url, at: new URL(url), deadlineMs: 1, maxBytes: 1, redirects: 'none' };
}
