import type { SourceId } from '#contracts';
import { ApiClient, startProgram, type ApiAnswer } from '#testing';
import type { FaultKind, PostInput } from '../apps/simulator/index.js';
import { pagesOf, startLookups, type LookupsUnderTest } from './lookups-under-test.js';
import type { Customer, Stage } from './scenario.js';
import { accountLookupTasks } from './account-lookup-tasks.js';

// Tests direct lookups: the response of the API, and the fact from which billing computes the charge. For each kind of
// lookup, Earshot sends X at most 60 requests without a wait, and then 20 per minute. Lookups on the other sources use
// the budget of their lane. So a lookup can wait, and these tests have long time limits.

const TIMEOUT_MS = 90_000;

let lookups: LookupsUnderTest;
let stage: Stage;
let customer: Customer;

beforeAll(async () => {
  lookups = await startLookups();
  ({ stage, customer } = lookups);
}, 90_000);
afterAll(() => lookups?.close());
afterEach(() => stage.simulator.faults.clear());

const got = (path: string) => lookups.got(path);
const asked = (asking: () => Promise<ApiAnswer>) => lookups.asked(asking);
const publish = (source: SourceId, input: PostInput) => stage.simulator.world.publish(source, input).id;
const requestsTo = (source: SourceId) => stage.simulator.requests.report(source).total;

describe('tweets by their ids', () => {
  it(
    'are returned if they exist, and the answer has a reason for each missing tweet [errors.tweets-partial, errors.tweets-charged, limits.tweets, credits.lookups]',
    async () => {
      const one = publish('x', { text: 'A kettle & a lamp', author: 'ada_l' });
      const two = publish('x', { text: 'A lamp', author: 'grace_h' });
      const hidden = publish('x', { text: 'Not for all', author: 'protected_ann' });
      const banned = publish('x', { text: 'No more', author: 'suspended_bob' });
      const ids = [two, banned, '20', one, hidden];
      const expected = {
        meta: { requested: 5, found: 2, credits_used: 3 },
        data: [
          { id: two, text: 'A lamp', author: { username: 'grace_h' } },
          { id: one, text: 'A kettle & a lamp', url: `https://x.com/ada_l/status/${one}` },
        ],
        errors: [
          { id: banned, code: 'USER_SUSPENDED' },
          { id: '20', code: 'TWEET_NOT_FOUND' },
          { id: hidden, code: 'TWEET_PROTECTED' },
        ],
      };
      const fact = {
        source: 'x',
        operation: 'tweets',
        question: { ids },
        outcome: 'found',
        found: 2,
        costCredits: 3,
      };
      const ways = [
        () => customer.api.get(`/v1/x/tweets?ids=${ids.join(',')}`),
        () => customer.api.get(`/v1/x/tweets?${ids.map((id) => `ids=${id}`).join('&')}&ids=${one}`),
        () => customer.api.post('/v1/x/tweets/lookup', { ids: [...ids, one] }),
      ];
      for (const way of ways) {
        const answer = await asked(way);
        expect(answer.status).toBe(200);
        expect(answer.body).toMatchObject(expected);
        expect(answer.facts).toEqual([fact]);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'cost one credit if none of them exists [errors.tweets-charged, limits.tweets]',
    async () => {
      const answer = await got('/v1/x/tweets?ids=20');
      expect(answer.body).toEqual({
        meta: { requested: 1, found: 0, credits_used: 1 },
        data: [],
        errors: [{ id: '20', code: 'TWEET_NOT_FOUND' }],
      });
      expect(answer.facts).toMatchObject([{ outcome: 'found', found: 0, costCredits: 1 }]);
    },
    TIMEOUT_MS,
  );

  const many = Array.from({ length: 101 }, (_, n) => String(n + 1));
  it.each([
    ['no ids', '', 'ids'],
    ['an empty id', '?ids=', 'ids'],
    ['101 ids', `?ids=${many.join(',')}`, 'ids'],
    ['an id of letters', '?ids=20,lamp', 'ids[1]'],
    ['an id of 20 digits', '?ids=12345678901234567890', 'ids[0]'],
    ['an unknown key', '?ids=20&colour=red', 'colour'],
  ])('are refused free of charge if the query has %s', async (_, query, path) => {
    const before = requestsTo('x');
    const answer = await got(`/v1/x/tweets${query}`);
    expect([answer.status, answer.body.code, answer.facts]).toEqual([400, 'VALIDATION', []]);
    expect(answer.body.details).toMatchObject([{ path }]);
    expect(requestsTo('x')).toBe(before);
  });

  it.each([
    ['no ids', {}, 'ids'],
    ['an empty list', { ids: [] }, 'ids'],
    ['a text instead of a list', { ids: '20' }, 'ids'],
    ['numbers', { ids: [20] }, 'ids'],
    ['an id of letters', { ids: ['20', 'lamp'] }, 'ids[1]'],
    ['101 ids', { ids: many }, 'ids'],
    ['an unknown key', { ids: ['20'], colour: 'red' }, 'colour'],
  ])('are refused free of charge if the body has %s', async (_, body, path) => {
    const before = requestsTo('x');
    const answer = await asked(() => customer.api.post('/v1/x/tweets/lookup', body));
    expect([answer.status, answer.body.code, answer.facts]).toEqual([400, 'VALIDATION', []]);
    expect(answer.body.details[0]).toMatchObject({ path });
    expect(requestsTo('x')).toBe(before);
  });
});

accountLookupTasks(() => lookups, got, publish, requestsTo);

describe('the comments of a video', () => {
  const before = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

  it(
    'are returned newest first, page by page [limits.comments]',
    async () => {
      const id = publish('youtube', { title: 'A lamp', text: '', author: 'ada', publishedAt: before(3) });
      const { pages, questions } = await pagesOf(lookups, `/v1/youtube/videos/${id}/comments`, 'comments', 5);
      const comments = pages.flat() as unknown as Record<string, string | number | null>[];
      expect(pages.length).toBeGreaterThan(1);
      expect(pages[0]?.length).toBe(100);
      expect(new Set(comments.map((comment) => comment['id'])).size).toBe(comments.length);
      const times = comments.map(({ publishedAt }) => String(publishedAt));
      expect(times).toEqual([...times].sort().reverse());
      expect(comments[0]).toMatchObject({
        videoId: id,
        text: expect.stringMatching(/./),
        authorDisplayName: expect.stringMatching(/^@\w/),
        authorChannelId: expect.stringMatching(/^UC/),
        isHeartedByCreator: null,
      });
      expect(questions.slice(0, 2)).toEqual([{ videoId: id }, { videoId: id, cursor: expect.any(String) }]);
    },
    TIMEOUT_MS,
  );

  it(
    'return 404 with the reason, and are charged, if the video does not exist or its comments are turned off',
    async () => {
      const off = publish('youtube', { title: 'A lamp, comments off', text: '', publishedAt: before(3) });
      for (const [id, reason] of [
        ['not-a-video', /no video "not-a-video"/],
        [off, /turned off/],
      ] as const) {
        const answer = await got(`/v1/youtube/videos/${id}/comments`);
        expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
        expect(answer.body.error).toMatch(reason);
        expect(answer.facts).toEqual([
          {
            source: 'youtube',
            operation: 'videoComments',
            question: { videoId: id },
            outcome: 'NOT_FOUND',
            found: 0,
            costCredits: 5,
          },
        ]);
      }
      const forged = await got(`/v1/youtube/videos/${off}/comments?cursor=forged`);
      expect([forged.status, forged.facts]).toEqual([400, []]);
    },
    TIMEOUT_MS,
  );
});

describe('the subreddits that a reddit user moderates', () => {
  it(
    'cost three credits, even if the list is empty [limits.moderated]',
    async () => {
      const some = await got('/v1/reddit/users/ada_byron/moderated');
      expect(some.body).toEqual({
        subreddits: expect.arrayContaining([
          {
            name: expect.stringMatching(/^\w+$/),
            title: expect.stringMatching(/^All about/),
            subscribers: expect.any(Number),
            isNsfw: false,
          },
        ]),
        meta: { credits_used: 3 },
      });
      expect(some.facts).toEqual([
        {
          source: 'reddit',
          operation: 'moderated',
          question: { username: 'ada_byron' },
          outcome: 'found',
          found: some.body.subreddits.length,
          costCredits: 3,
        },
      ]);
      const none = await got('/v1/reddit/users/old_lurker/moderated');
      expect(none.body).toEqual({ subreddits: [], meta: { credits_used: 3 } });
    },
    TIMEOUT_MS,
  );

  it(
    'return 404 for an unknown user, and are charged',
    async () => {
      const answer = await got('/v1/reddit/users/missing_cid/moderated');
      expect([answer.status, answer.body.code]).toEqual([404, 'USER_NOT_FOUND']);
      expect(answer.facts).toMatchObject([{ outcome: 'USER_NOT_FOUND', found: 0, costCredits: 3 }]);
    },
    TIMEOUT_MS,
  );
});

describe('a lookup that fails', () => {
  const faults: [SourceId, FaultKind, string, string][] = [
    ['x', 'html', '/v1/x/tweets?ids=20', 'PARSE'],
    ['x', 'shape', '/v1/x/users/ada_l', 'PARSE'],
    ['x', '503', '/v1/x/tweets?ids=20', 'UNAVAILABLE'],
    ['youtube', 'empty', '/v1/youtube/videos/some-video/comments', 'PARSE'],
    ['youtube', '500', '/v1/youtube/videos/some-video/comments', 'UNAVAILABLE'],
    ['reddit', 'html', '/v1/reddit/users/ada_byron/moderated', 'PARSE'],
    ['reddit', '503', '/v1/reddit/users/ada_byron/moderated', 'UNAVAILABLE'],
  ];
  it.each(faults)(
    'returns 503 and costs nothing if the upstream has a fault: %s, %s [errors.upstream]',
    async (source, kind, path, code) => {
      stage.simulator.faults.add({ source, kind, times: 1 });
      const answer = await got(path);
      expect([answer.status, answer.body.code, answer.facts]).toEqual([503, code, []]);
      expect(answer.body.error).toMatch(new RegExp(`^${source} .*nothing was charged$`));
      expect((await got(path)).status).not.toBe(503);
    },
    TIMEOUT_MS,
  );

  it(
    'returns 400 with the name of the setting if a setting is missing',
    async () => {
      const gateway = await startProgram('gateway', { ...stage.env, SOURCE_YOUTUBE_TOKEN: '' });
      const api = new ApiClient(gateway.url, customer.api.apiKey);
      const answer = await asked(() => api.get('/v1/youtube/videos/some-video/comments'));
      await gateway.stop();
      expect([answer.status, answer.body.code, answer.facts]).toEqual([400, 'VALIDATION', []]);
      expect(answer.body.details).toEqual([
        { path: 'source', message: 'youtube is not configured; missing: SOURCE_YOUTUBE_TOKEN' },
      ]);
    },
    TIMEOUT_MS,
  );
});

describe('a lookup of a suspended reddit user', () => {
  // reddit's 403 contains the reset time of its rate limit. Earshot must not wait for this time: it must send a second
  // request, to find out whether the user is suspended.
  it(
    'returns 404 with this reason, and is charged',
    async () => {
      const answer = await got('/v1/reddit/users/suspended_bob/moderated');
      expect([answer.status, answer.body.code]).toEqual([404, 'USER_SUSPENDED']);
      expect(answer.facts).toMatchObject([{ outcome: 'USER_SUSPENDED', found: 0, costCredits: 3 }]);
    },
    TIMEOUT_MS,
  );
});
