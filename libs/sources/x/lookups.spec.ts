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

function errorOf(value: string, type: string, more: Record<string, unknown> = {}) {
  const title = type === 'not-authorized-for-resource' ? 'Authorization Error' : 'Not Found Error';
  const parameter = 'ids';
  return {
    value,
    resource_id: value,
    parameter,
    title,
    type: `https://api.x.com/2/problems/${type}`,
    ...more,
  };
}
const MISSING = 'resource-not-found';

it('there are lookups of tweets, of accounts, and of the lists of an account', () => {
  expect(Object.keys(connector.lookups ?? {})).toEqual([
    'tweets',
    'user',
    'userTweets',
    'followers',
    'following',
  ]);
});

it('eight lookups of one kind can be sent to X without a wait, independently of the limits of searches', () => {
  expect(connector.lookupsApart?.burst).toBeGreaterThanOrEqual(8);
});

describe('a lookup of tweets', () => {
  it('returns the found tweets in the requested order, and the reason for each id without a tweet', async () => {
    const found = [tweetRecord(2, SPEC_NOW), tweetRecord(1, SPEC_NOW)];
    const errors = [
      errorOf('31', MISSING),
      errorOf('32', 'not-authorized-for-resource'),
      errorOf('33', MISSING, { title: 'Forbidden' }),
      errorOf('34', MISSING, { detail: 'User has been suspended: [34].' }),
    ];
    const { lookUp, upstream } = always(answerOf(found, { errors, meta: undefined }));
    const ids = [tweetId(1), '31', '32', tweetId(2), '33', '34', '35'];
    const answer = await lookUp('tweets', { ids });
    expect(upstream.requests.length).toBe(1);
    expect(upstream.requests[0]?.at.pathname).toBe('/2/tweets');
    expect(upstream.requests[0]?.at.searchParams.get('ids')).toBe(ids.join());
    expect(upstream.requests[0]?.at.searchParams.get('tweet.fields')).toContain('note_tweet');
    expect(answer).toMatchObject({
      kind: 'found',
      found: 2,
      body: {
        data: [{ id: tweetId(1) }, { id: tweetId(2) }],
        errors: [
          { id: '31', code: 'TWEET_NOT_FOUND' },
          { id: '32', code: 'TWEET_PROTECTED' },
          { id: '33', code: 'USER_SUSPENDED' },
          { id: '34', code: 'USER_SUSPENDED' },
          { id: '35', code: 'TWEET_NOT_FOUND' },
        ],
      },
    });
  });

  it('returns every field of the interface, with the client as `source`', async () => {
    const { lookUp } = always(answerOf([tweetRecord(1, SPEC_NOW, { source: 'Lamp Writer' })]));
    const answer = await lookUp('tweets', { ids: [tweetId(1)] });
    const [tweet] = (answer?.kind === 'found' ? answer.body['data'] : []) as JsonObject[];
    expect(Object.keys(tweet ?? {}).sort()).toEqual(
      [
        ...['id', 'text', 'createdAt', 'lang', 'url', 'author', 'metrics', 'media', 'entities'],
        ...['quotedTweet', 'retweetedTweet', 'inReplyToTweetId', 'inReplyToUserId', 'inReplyToUsername'],
        ...['conversationId', 'displayTextRange', 'source', 'possiblySensitive', 'poll', 'card'],
        ...['communityNote', 'editControl'],
      ].sort(),
    );
    expect(tweet).toMatchObject({ source: 'Lamp Writer', author: { username: 'Ada_Lamps' } });
  });

  it('ignores errors about objects to which a tweet refers', async () => {
    const errors = [
      errorOf('9', MISSING, { parameter: 'referenced_tweets.id' }),
      errorOf('9', 'not-authorized-for-resource', { section: 'includes' }),
      errorOf('GraceH', MISSING, { parameter: 'entities.mentions.username', title: 'Forbidden' }),
    ];
    const { lookUp } = always(answerOf([tweetRecord(1, SPEC_NOW)], { errors }));
    expect(await lookUp('tweets', { ids: [tweetId(1)] })).toMatchObject({ body: { errors: [] } });
    expect(await lookUp('tweets', { ids: [tweetId(1), '9'] })).toMatchObject({
      body: { errors: [{ id: '9', code: 'TWEET_NOT_FOUND' }] },
    });
  });

  it('returns only errors if it finds no tweet', async () => {
    const { lookUp } = always({ errors: [errorOf('31', MISSING)] });
    expect(await lookUp('tweets', { ids: ['31'] })).toEqual({
      kind: 'found',
      found: 0,
      body: { data: [], errors: [{ id: '31', code: 'TWEET_NOT_FOUND' }] },
    });
  });

  it('does not request impossible ids, and requests each id once', async () => {
    const { lookUp, upstream } = always(answerOf([tweetRecord(1, SPEC_NOW)]));
    const ids = ['lamp', tweetId(1), tweetId(1)];
    expect(await lookUp('tweets', { ids })).toMatchObject({
      found: 1,
      body: { data: [{ id: tweetId(1) }], errors: [{ id: 'lamp', code: 'TWEET_NOT_FOUND' }] },
    });
    expect(upstream.requests[0]?.at.searchParams.get('ids')).toBe(tweetId(1));
    const nothing = always({});
    expect(await nothing.lookUp('tweets', { ids: ['lamp'] })).toMatchObject({ found: 0 });
    expect(nothing.paths()).toEqual([]);
  });

  it.each([[{}], [{ data: {} }], [{ meta: {} }], [{ data: [{ id: '1' }] }]])(
    'fails if the response has an unknown structure: %j',
    async (body) => {
      await expect(always(body).lookUp('tweets', { ids: ['1'] })).rejects.toMatchObject({
        kind: 'unknown_shape',
      });
    },
  );

  it('fails if X answers 503, or 402 because no credits are left', async () => {
    await expect(always({}, 503).lookUp('tweets', { ids: ['1'] })).rejects.toMatchObject({
      kind: 'server_error',
    });
    const unpaid = always({ title: 'CreditsDepleted', type: 'https://api.x.com/2/problems/credits' }, 402);
    await expect(unpaid.lookUp('tweets', { ids: ['1'] })).rejects.toMatchObject({ kind: 'quota_spent' });
    expect(unpaid.upstream.heldOff.length).toBe(1);
  });
});

describe('a lookup of an account', () => {
  it.each([
    ['Ada_Lamps', '/2/users/by/username/Ada_Lamps'],
    ['@Ada_Lamps', '/2/users/by/username/Ada_Lamps'],
    ['71001', '/2/users/71001'],
    ['@71001', '/2/users/by/username/71001'],
  ])('sends, for %s, the request %s', async (ref, path) => {
    const { lookUp, paths } = always({ data: userRecord() });
    expect(await lookUp('user', { ref })).toEqual({
      kind: 'found',
      found: 1,
      body: {
        user: {
          id: '71001',
          username: 'Ada_Lamps',
          displayName: 'Ada & B.',
          description: 'Lamps & light: https://lamps.example/about',
          createdAt: '2014-05-01T08:00:00.000Z',
          location: 'Berlin',
          url: 'https://lamps.example',
          profileImageUrl: 'https://pbs.example/ada.jpg',
          verified: true,
          isBlueVerified: true,
          verifiedType: 'blue',
          protected: false,
          metrics: { followers: 12, following: 34, tweets: 56, listed: 7, likes: 89 },
        },
      },
    });
    expect(paths()).toEqual([path]);
  });

  it('contains null for each field that X does not send', async () => {
    const { lookUp } = always({ data: { id: '7', username: 'GraceH' } });
    expect(await lookUp('user', { ref: 'GraceH' })).toMatchObject({
      body: {
        user: {
          id: '7',
          displayName: null,
          description: null,
          url: null,
          isBlueVerified: null,
          protected: null,
          metrics: { followers: null, likes: null },
        },
      },
    });
  });

  it('finds a protected account, because its profile is public', async () => {
    const { lookUp } = always({ data: userRecord({ protected: true }) });
    expect(await lookUp('user', { ref: 'Ada_Lamps' })).toMatchObject({ body: { user: { protected: true } } });
  });

  it.each(['not a name', 'much_too_long_a_name', 'grace.h', '', '@', '12345678901234567890'])(
    'is refused without a request if "%s" cannot be a name',
    async (ref) => {
      const { lookUp, paths } = always({});
      expect(await lookUp('user', { ref })).toEqual({
        kind: 'refused',
        code: 'USER_NOT_FOUND',
        message: `There is no account "${ref}" on x`,
      });
      expect(paths()).toEqual([]);
    },
  );

  const named = (type: string, more = {}) => ({
    errors: [errorOf('GraceH', type, { parameter: 'username', ...more })],
  });
  const refusals: [object, string, string][] = [
    [named(MISSING), 'USER_NOT_FOUND', 'There is no account "GraceH" on x'],
    [named(MISSING, { title: 'Forbidden' }), 'USER_SUSPENDED', 'The account "GraceH" is suspended'],
    [
      named('not-authorized-for-resource'),
      'USER_PROTECTED',
      'The account "GraceH" is protected: only its followers see it',
    ],
  ];
  it.each(refusals)('is refused if X does not show the account: %j', async (body, code, message) => {
    for (const operation of ['user', 'userTweets', 'followers', 'following']) {
      const { lookUp } = always(body);
      expect(await lookUp(operation, { ref: 'GraceH' })).toEqual({ kind: 'refused', code, message });
    }
  });

  it('is refused if X answers 404', async () => {
    expect(await always({ title: 'Not Found' }, 404).lookUp('user', { ref: 'GraceH' })).toMatchObject({
      kind: 'refused',
      code: 'USER_NOT_FOUND',
    });
  });

  it.each([[{}], [{ data: [] }], [{ data: { id: '7' } }], [{ errors: [{ title: 'Odd' }] }]])(
    'fails if the response has an unknown structure: %j',
    async (body) => {
      await expect(always(body).lookUp('user', { ref: 'GraceH' })).rejects.toMatchObject({
        kind: 'unknown_shape',
      });
    },
  );
});
