import type { JsonObject } from '@bufbuild/protobuf';
import { SPEC_NOW, fakeUpstream, type FakeAnswer, type FakeRequest } from '../testing/fake-upstream.js';
import { createXConnector } from './index.js';
import { answerOf, tweetId, tweetRecord, userRecord } from './testing/fixtures.js';

const connector = createXConnector({ token: 't0ken' });

function asking(answer: (request: FakeRequest) => FakeAnswer, session = new Map<string, unknown>()) {
  const upstream = fakeUpstream('x', answer);
  const lookUp = async (operation: string, question: JsonObject, now = SPEC_NOW) =>
    connector.lookups?.[operation]?.(question, { http: upstream.http, now, session });
  const paths = () => upstream.requests.map(({ at }) => at.pathname);
  return { lookUp, paths, upstream };
}
const always = (body: object, status = 200) => asking(() => ({ status, body }));

describe('the lists of an account', () => {
  const page = (data: readonly unknown[], next?: string) => ({
    ...answerOf(data),
    meta: { result_count: data.length, ...(next !== undefined && { next_token: next }) },
  });
  const serving = (list: object, session?: Map<string, unknown>) =>
    asking(
      ({ at }) => ({ body: at.pathname.includes('/by/username/') ? { data: userRecord() } : list }),
      session,
    );

  it('contain its tweets and retweets, on several pages', async () => {
    const retweet = tweetRecord(2, SPEC_NOW, { referenced_tweets: [{ type: 'retweeted', id: tweetId(9) }] });
    const list = {
      ...page([tweetRecord(1, SPEC_NOW), retweet], 'p2'),
      includes: { tweets: [tweetRecord(9, SPEC_NOW)] },
    };
    const { lookUp, upstream, paths } = serving(list);
    const answer = await lookUp('userTweets', { ref: '@Ada_Lamps' });
    expect(answer).toMatchObject({
      kind: 'found',
      found: 2,
      body: {
        data: [{ id: tweetId(1) }, { id: tweetId(2), retweetedTweet: { id: tweetId(9) } }],
        nextCursor: 'p2',
      },
    });
    await lookUp('userTweets', { ref: 'ada_lamps', cursor: 'p2' });
    expect(paths()).toEqual([
      '/2/users/by/username/Ada_Lamps',
      '/2/users/71001/tweets',
      '/2/users/71001/tweets',
    ]);
    const queries = upstream.requests.slice(1).map(({ at }) => at.searchParams);
    expect(queries.map((query) => [query.get('max_results'), query.get('pagination_token')])).toEqual([
      ['100', null],
      ['100', 'p2'],
    ]);
  });

  it.each(['followers', 'following'])('contain its %s', async (operation) => {
    const { lookUp, paths } = serving(page([userRecord(), userRecord({ id: '8', username: 'GraceH' })]));
    const answer = await lookUp(operation, { ref: '71001' });
    expect(answer).toMatchObject({
      found: 2,
      body: { data: [{ username: 'Ada_Lamps', metrics: { followers: 12 } }, { username: 'GraceH' }] },
    });
    expect(answer?.kind === 'found' && 'nextCursor' in answer.body).toBe(false);
    expect(paths()).toEqual([`/2/users/71001/${operation}`]);
  });

  it('are empty if X reports 0 results', async () => {
    const { lookUp } = serving({ meta: { result_count: 0 } });
    expect(await lookUp('userTweets', { ref: 'Ada_Lamps' })).toEqual({
      kind: 'found',
      found: 0,
      body: { data: [] },
    });
  });

  it('are requested with the id of the account, which Earshot requests once in an hour for a username', async () => {
    const session = new Map<string, unknown>();
    const { lookUp, paths } = serving(page([]), session);
    await lookUp('followers', { ref: 'Ada_Lamps' });
    await lookUp('following', { ref: 'ADA_LAMPS' }, new Date(SPEC_NOW.getTime() + 3_599_000));
    await lookUp('userTweets', { ref: 'Ada_Lamps' }, new Date(SPEC_NOW.getTime() + 3_601_000));
    expect(paths()).toEqual([
      '/2/users/by/username/Ada_Lamps',
      '/2/users/71001/followers',
      '/2/users/71001/following',
      '/2/users/by/username/Ada_Lamps',
      '/2/users/71001/tweets',
    ]);
  });

  it('are refused if the profile is protected, which the next lookup checks again', async () => {
    const { lookUp, paths } = always({ data: userRecord({ protected: true }) });
    for (const operation of ['userTweets', 'followers']) {
      expect(await lookUp(operation, { ref: 'Ada_Lamps' })).toMatchObject({
        kind: 'refused',
        code: 'USER_PROTECTED',
      });
    }
    expect(paths()).toEqual(['/2/users/by/username/Ada_Lamps', '/2/users/by/username/Ada_Lamps']);
  });

  it('are refused if X answers with an authorization error instead of the list', async () => {
    const type = 'https://api.x.com/2/problems/not-authorized-for-resource';
    const errors = [{ parameter: 'id', value: '71001', title: 'Authorization Error', type }];
    const { lookUp } = serving({ errors });
    expect(await lookUp('userTweets', { ref: 'Ada_Lamps' })).toMatchObject({ code: 'USER_PROTECTED' });
  });

  it('are refused for a cursor that X no longer knows', async () => {
    const refused = { errors: [{ parameters: { pagination_token: ['old'] } }], title: 'Invalid Request' };
    const { lookUp } = always(refused, 400);
    expect(await lookUp('followers', { ref: '71001', cursor: 'old' })).toEqual({
      kind: 'refused',
      code: 'NOT_FOUND',
      message: 'X no longer accepts this cursor; begin again without a cursor',
    });
    const other = always({ errors: [{ parameters: { max_results: ['7'] } }] }, 400);
    await expect(other.lookUp('followers', { ref: '71001' })).rejects.toMatchObject({
      kind: 'unexpected_status',
    });
  });

  it.each([
    ['userTweets', {}],
    ['userTweets', { data: {} }],
    ['userTweets', { data: [{ id: '1' }] }],
    ['followers', { meta: { result_count: 2 } }],
    ['followers', { data: [{ id: '1' }] }],
    ['following', { errors: [{ title: 'Odd' }] }],
  ])('fail with `unknown_shape`: %s for the answer %j', async (operation, body) => {
    await expect(always(body).lookUp(operation, { ref: '71001' })).rejects.toMatchObject({
      kind: 'unknown_shape',
    });
  });
});
