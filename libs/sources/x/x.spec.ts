import { describeConnector } from '../testing/connector-contract.js';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createXConnector } from './index.js';
import { ADA, answerOf, serveTweets, tweetId, tweetIdAt, tweetRecord } from './testing/fixtures.js';

const connector = createXConnector({ token: 't0ken' });
const DAY_MS = 86_400_000;

describeConnector('x', {
  create: () => createXConnector({ token: 't0ken' }),
  criteria: criteriaOf({ query: 'lamp' }),
  serve: serveTweets,
  pageSize: 100,
  itemIdOf: tweetId,
  changedShapes: [
    {},
    [],
    { data: [] },
    { meta: {} },
    { meta: { result_count: 3 } },
    { data: {}, meta: { result_count: 1 } },
    { errors: [{ title: 'Not Found Error', value: '1' }] },
    answerOf([{ id: '1', title: 'Lamp' }]),
    answerOf([{ ...tweetRecord(1, SPEC_NOW), created_at: undefined }]),
    // A tweet in the format of post.fields. In this format, Earshot would not recognize retweets.
    answerOf([{ ...tweetRecord(1, SPEC_NOW), edit_history_post_ids: ['1'] }]),
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('x', () => ({ body: { meta: { result_count: 0 } } }));
  const fetched = await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return { fetched, requests: upstream.requests };
}

async function queries(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  return (await asked(init, more)).requests.map(({ at }) => at.searchParams.get('query'));
}

describe('the start of a search of X', () => {
  const startOf = async (more: Partial<FetchContext>) => {
    const { fetched, requests } = await asked({ query: 'lamp' }, more);
    const { searchParams } = requests[0]?.at ?? new URL('https://none.example');
    return {
      ...(searchParams.has('since_id') && { sinceId: searchParams.get('since_id') }),
      ...(searchParams.has('start_time') && { startTime: searchParams.get('start_time') }),
      ...(fetched.gap && { gap: fetched.warnings }),
    };
  };
  const ago = (ms: number) => new Date(SPEC_NOW.getTime() - ms);
  const remembered = (id: string) => ({ newestIds: { 'lamp -is:retweet': id } });

  it('is absent at a first poll, because the newest tweets are enough', async () => {
    expect(await startOf({ since: undefined })).toEqual({});
  });

  it('is the newest tweet of the last check and not a time, because X refuses both together', async () => {
    const id = tweetIdAt(ago(DAY_MS));
    expect(await startOf({ since: ago(3_600_000), state: remembered(id) })).toEqual({ sinceId: id });
  });

  it('is the time of the last read if no tweet of this search is stored', async () => {
    const since = new Date('2026-03-04T10:00:00.500Z');
    const startTime = '2026-03-04T10:00:00Z';
    expect(await startOf({ since })).toEqual({ startTime });
    expect(await startOf({ since, state: { newestIds: { other: tweetIdAt(ago(1)) } } })).toEqual({
      startTime,
    });
    expect(await startOf({ since, state: { newestIds: 'broken' } })).toEqual({ startTime });
  });

  it('is a time if the newest tweet is older than seven days, because X answers 400 to older ids', async () => {
    const state = remembered(tweetIdAt(ago(7 * DAY_MS)));
    const since = ago(2 * DAY_MS);
    expect(await startOf({ since, state })).toEqual({ startTime: '2026-03-02T12:00:00Z' });
  });

  it('is at most seven days ago, and an earlier period is reported as a gap', async () => {
    expect(await startOf({ since: ago(9 * DAY_MS) })).toEqual({
      startTime: '2026-02-25T12:01:00Z',
      gap: ['x searches only the last 7 days; older tweets are missing'],
    });
  });

  it('is at least a minute ago, because X refuses a time that is less than 30 s ago', async () => {
    expect(await startOf({ since: ago(5_000) })).toEqual({ startTime: '2026-03-04T11:59:00Z' });
  });

  it('is stored as the newest tweet of each query, and stays the same if a query finds nothing', async () => {
    const terms = Array.from({ length: 20 }, (_, n) => `a term of some length, number ${n}`);
    const [first = '', second = ''] = (await queries({ terms })).map((query) => query ?? '');
    const state: Record<string, unknown> = { newestIds: { [second]: tweetIdAt(ago(DAY_MS)), gone: '1' } };
    const upstream = fakeUpstream('x', ({ at }) => {
      if (at.searchParams.get('query') !== first) return { body: { meta: { result_count: 0 } } };
      const n = at.searchParams.has('next_token') ? 2 : 1;
      const answer = answerOf([tweetRecord(n, SPEC_NOW)]);
      return { body: { ...answer, meta: { ...answer.meta, ...(n === 1 && { next_token: 'more' }) } } };
    });
    await connector.search(criteriaOf({ terms }), fakeContext(upstream.http, { since: ago(DAY_MS), state }));
    expect(upstream.requests.length).toBe(3);
    expect(state['newestIds']).toEqual({ [first]: tweetId(1), [second]: tweetIdAt(ago(DAY_MS)) });
  });
});

describe('reading further pages of X', () => {
  const pages = (answers: object[]) => {
    let n = 0;
    return fakeUpstream('x', () => ({ body: answers[n++] ?? { meta: { result_count: 0 } } }));
  };
  const since = new Date(SPEC_NOW.getTime() - DAY_MS);
  const more = (answer: ReturnType<typeof answerOf>, token: string) => ({
    ...answer,
    meta: { ...answer.meta, next_token: token },
  });

  it('continues after an edit of a known tweet, because tweets after the edit can be new', async () => {
    const edit = tweetRecord(1, SPEC_NOW, { edit_history_tweet_ids: [tweetId(9), tweetId(1)] });
    const upstream = pages([more(answerOf([edit]), 'b'), answerOf([tweetRecord(2, SPEC_NOW)])]);
    const known = (itemId: string) => itemId === tweetId(9);
    const { items } = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { since, known }),
    );
    expect(items.map(({ itemId }) => itemId)).toEqual([tweetId(9), tweetId(2)]);
  });

  it('continues after an empty page, and after known tweets if the search is sorted by relevancy', async () => {
    const empty = more(answerOf([]), 'b');
    const upstream = pages([empty, more(answerOf([tweetRecord(1, SPEC_NOW)]), 'c'), answerOf([])]);
    const criteria = criteriaOf({ query: 'lamp', sort: 'relevancy' });
    const { gap } = await connector.search(
      criteria,
      fakeContext(upstream.http, { since, known: () => true }),
    );
    expect(upstream.requests.map(({ at }) => at.searchParams.get('next_token'))).toEqual([null, 'b', 'c']);
    expect(gap).toBe(false);
  });

  it('ends if a page has its own token as the next token', async () => {
    const again = () => more(answerOf([tweetRecord(1, SPEC_NOW)]), 'b');
    const upstream = pages([again(), again(), again()]);
    await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { since }));
    expect(upstream.requests.length).toBe(2);
  });
});

describe('a request that X refuses', () => {
  async function refused(answer: FakeAnswer) {
    const upstream = fakeUpstream('x', () => answer, { settings: connector.requiredSettings.flat() });
    const fault: unknown = await connector
      .search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http))
      .catch((error: unknown) => error);
    return { fault, heldOff: upstream.heldOff };
  }
  const problem = (type: string) => ({ title: 'Problem', type: `https://api.x.com/2/problems/${type}` });

  it('stops requests for an hour if the credits are used up', async () => {
    const { fault, heldOff } = await refused({ status: 402, body: problem('credits') });
    const reason =
      "x answered 402: the account of SOURCE_X_TOKEN has no credits left; buy some in X's developer console";
    expect(fault).toMatchObject({ kind: 'quota_spent', message: reason, retryAfterMs: 3_600_000 });
    expect(heldOff).toEqual([{ waitMs: 3_600_000, reason }]);
  });

  it.each([
    [{}, DAY_MS],
    [{ 'x-rate-limit-reset': String(SPEC_NOW.getTime() / 1000 + 600) }, 600_000],
  ])(
    'stops requests until the reset, or for a day, if the tweets of the month are used up (%j)',
    async (headers, waitMs) => {
      const { fault, heldOff } = await refused({ status: 429, headers, body: problem('usage-capped') });
      const reason =
        "x answered 429: the month's tweets are used up; raise the cap in X's developer console or wait for the next month";
      expect(fault).toMatchObject({ kind: 'quota_spent', message: reason, retryAfterMs: waitMs });
      expect(heldOff).toEqual([{ waitMs, reason }]);
    },
  );

  it('is reported with the wait if the rate limit is used up, even if the answer is plain text', async () => {
    const headers = {
      'x-rate-limit-remaining': '0',
      'x-rate-limit-reset': String(SPEC_NOW.getTime() / 1000 + 90),
    };
    const { fault, heldOff } = await refused({ status: 429, headers, body: 'Rate limit exceeded\n' });
    expect(fault).toMatchObject({ kind: 'rate_limited', retryAfterMs: 90_000 });
    expect(heldOff).toEqual([]);
  });

  it('is reported with the names of its invalid parameters, but without the text of X', async () => {
    const errors = [{ parameters: { query: ['lamp <b>'] }, message: 'There were errors <b>' }];
    const { fault } = await refused({ status: 400, body: { errors, ...problem('invalid-request') } });
    expect(fault).toMatchObject({
      kind: 'unexpected_status',
      statusCode: 400,
      message:
        'x answered 400: the request was not understood (query); check the words and filters of the search',
    });
    expect((await refused({ status: 400, body: 'Bad <b>' })).fault).toMatchObject({
      message: 'x answered 400: the request was not understood; check the words and filters of the search',
    });
  });

  it('is reported with advice if the token is wrong or the application has no access', async () => {
    expect((await refused({ status: 403, body: problem('client-forbidden') })).fault).toMatchObject({
      kind: 'forbidden',
      message:
        "x answered 403: the application of SOURCE_X_TOKEN has no permission to send this request; check its project and its access in X's developer console",
    });
    expect((await refused({ status: 401, body: { title: 'Unauthorized' } })).fault).toMatchObject({
      kind: 'unauthorized',
      message: 'x answered 401: the credentials were not accepted; check SOURCE_X_TOKEN',
    });
  });

  it('is not confused with an error about an account that a tweet mentions', async () => {
    const errors = [{ parameter: 'entities.mentions.username', value: 'GraceH', title: 'Forbidden' }];
    const upstream = fakeUpstream('x', () => ({ body: answerOf([tweetRecord(1, SPEC_NOW)], { errors }) }));
    const fetched = await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
    expect([fetched.items.length, fetched.warnings]).toEqual([1, []]);
    expect(fetched.items[0]?.author).toBe(ADA.username);
  });
});
