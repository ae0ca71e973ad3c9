import type { JsonObject } from '@bufbuild/protobuf';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { LookupAnswer } from '../source.js';
import { createXConnector } from './index.js';

const connector = createXConnector({ token: 't0ken' });
const lookedUp: Outcome = { error: 'unknown_shape', notPolled: 'a lookup; it is read as a lookup below' };
const counts: Outcome = {
  error: 'unknown_shape',
  notPolled: 'only the number of tweets, without the tweets',
};
const batch: Outcome = {
  error: 'unknown_shape',
  notPolled: 'a lookup of several accounts; Earshot requests only one at a time',
};
const web: Outcome = {
  error: 'unknown_shape',
  notPolled: 'the interface of X’s web page; X does not offer it to applications',
};
const retweets = (count: number, of: number) => [`x: ${count} of ${of} items left out: retweets`];

describeRecorded(
  'x',
  {
    'search-recent-1.json': {
      items: 22,
      first: '1440717124545114123',
      last: '1440716023670329351',
      digest: '2bea27e7037e',
      warnings: retweets(78, 100),
    },
    'search-recent-2.json': {
      items: 33,
      first: '1440716895355764743',
      last: '1440713966649417731',
      digest: '3b9c9dc2d6f0',
      warnings: retweets(67, 100),
    },
    'search-recent-3.json': {
      items: 58,
      first: '1392220189706657804',
      last: '1390728971780829189',
      digest: 'babff30bf63c',
      warnings: retweets(42, 100),
    },
    'search-all-1.json': {
      items: 45,
      first: '1574186989737459712',
      last: '1574185923922771968',
      digest: 'e57eccdc45e7',
      warnings: retweets(105, 150),
      notPolled:
        'a search of the archive; the search of the last seven days has responses with the same structure',
    },
    'search-recent-empty-1.json': { items: 0 },
    'user-tweets-1.json': {
      items: 66,
      first: '1257712972564180997',
      last: '1250097009513705472',
      digest: '836372bc3616',
      warnings: retweets(34, 100),
      notPolled: 'a lookup; it is read as a lookup below',
    },
    'tweets-lookup-1.json': lookedUp,
    'tweets-lookup-2.json': lookedUp,
    'tweets-lookup-3.json': lookedUp,
    'tweets-lookup-4.json': lookedUp,
    'tweets-lookup-5.json': lookedUp,
    'tweets-lookup-6.json': lookedUp,
    'tweets-lookup-7.json': lookedUp,
    'tweets-lookup-partial-1.json': lookedUp,
    'tweet-deleted-1.json': lookedUp,
    'tweets-counts-recent-1.json': counts,
    'user-by-username-notfound-1.json': lookedUp,
    'user-followers-1.json': lookedUp,
    'user-followers-2.json': lookedUp,
    'user-protected-1.json': lookedUp,
    'user-suspended-1.json': lookedUp,
    'users-by-partial-1.json': batch,
    'users-lookup-1.json': batch,
    'web-graphql-card-poll-1.json': web,
    'web-graphql-card-summary-1.json': web,
    'web-graphql-note-tweet-1.json': web,
    'error-400-1.json': { error: 'unexpected_status' },
    'error-401-1.json': { error: 'unauthorized' },
    'error-402-1.json': { error: 'quota_spent', retryAfterMs: 3_600_000 },
    'error-403-1.json': { error: 'forbidden' },
    // The cause is too many connections, and not a used-up window. The reset is years before the current time of the
    // spec.
    'error-429-stream-1.json': { error: 'rate_limited', retryAfterMs: 0 },
    'error-503-1.json': { error: 'server_error' },
  },
  (recorded) => connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstreamOf(recorded).http)),
);

function upstreamOf({ status, headers, bytes }: Recorded) {
  return fakeUpstream('x', () => ({ status, headers, body: bytes }));
}

describe('recorded answers of x to lookups:', () => {
  async function lookUp(operation: string, question: JsonObject, file: string) {
    const recorded = recordedAnswer('x', file);
    if (!recorded) return undefined;
    const context = { http: upstreamOf(recorded).http, now: SPEC_NOW, session: new Map() };
    return connector.lookups?.[operation]?.(question, context);
  }
  const found = (answer: LookupAnswer | undefined) =>
    answer?.kind === 'found' ? (answer.body as Record<string, unknown>) : {};

  it.each([
    ['tweets-lookup-1.json', '1576994789110992896'],
    ['tweets-lookup-2.json', '1576995594388000768'],
    ['tweets-lookup-3.json', '1388424788171841537'],
    ['tweets-lookup-4.json', undefined],
    ['tweets-lookup-5.json', undefined],
    ['tweets-lookup-6.json', '1603823063690199040'],
    ['tweets-lookup-7.json', '1558553189766631429'],
  ])('the answer %s contains one tweet', async (file, id) => {
    const recorded = recordedAnswer('x', file);
    if (!recorded) return;
    const asked =
      id ?? (JSON.parse(recorded.bytes.toString()) as { data: { id: string }[] }).data[0]?.id ?? '';
    const { data, errors } = found(await lookUp('tweets', { ids: [asked] }, file));
    expect(data).toMatchObject([{ id: asked, createdAt: expect.stringMatching(/^20\d\d-.*Z$/) }]);
    expect(errors).toEqual([]);
  });

  it('an edited tweet contains its versions, and the number of remaining edits as a number', async () => {
    const { data } = found(await lookUp('tweets', { ids: ['1576994789110992896'] }, 'tweets-lookup-1.json'));
    if (!data) return;
    expect(data).toMatchObject([
      {
        editControl: {
          editTweetIds: ['1576994746135764992', '1576994789110992896'],
          editableUntilMs: Date.parse('2022-10-03T18:27:01.000Z'),
          editsRemaining: 4,
          isEditEligible: true,
        },
      },
    ]);
  });

  it('the tweets contain the quoted tweet, the card of a link, and the files of a video', async () => {
    const quote = found(await lookUp('tweets', { ids: ['1576995594388000768'] }, 'tweets-lookup-2.json'));
    if (!quote['data']) return;
    expect(quote['data']).toMatchObject([
      {
        inReplyToTweetId: '1576994789110992896',
        inReplyToUserId: '337119125',
        inReplyToUsername: expect.any(String),
        quotedTweet: { id: '1576994746135764992', author: { id: '337119125' } },
      },
    ]);
    const link = found(await lookUp('tweets', { ids: ['1388424788171841537'] }, 'tweets-lookup-3.json'));
    expect(link['data']).toMatchObject([
      { card: { title: expect.any(String), description: expect.any(String), imageUrl: expect.any(String) } },
    ]);
    const video = found(await lookUp('tweets', { ids: ['1558553189766631429'] }, 'tweets-lookup-7.json'));
    const [{ media } = { media: [] }] = video['data'] as { media: { url: string; variants: unknown[] }[] }[];
    expect(media.map(({ url, variants }) => [url.includes('1280x720'), variants.length])).toEqual([
      [true, 4],
    ]);
    const business = found(await lookUp('tweets', { ids: ['1603823063690199040'] }, 'tweets-lookup-6.json'));
    expect(business['data']).toMatchObject([
      { author: { verified: true, isBlueVerified: false }, metrics: { views: 139_075, bookmarks: null } },
    ]);
  });

  it.each([
    ['tweets-lookup-partial-1.json', ['20', '1276230436478386177'], ['20']],
    ['tweet-deleted-1.json', ['1276230436478386177'], []],
  ])('the answer %s reports the tweet that is gone', async (file, ids, there) => {
    const answer = await lookUp('tweets', { ids }, file);
    if (!answer) return;
    expect(answer).toMatchObject({
      found: there.length,
      body: {
        data: there.map((id) => ({ id })),
        errors: [{ id: '1276230436478386177', code: 'TWEET_NOT_FOUND' }],
      },
    });
  });

  it.each([
    ['user', 'user-by-username-notfound-1.json', 'USER_NOT_FOUND'],
    ['user', 'user-protected-1.json', 'USER_PROTECTED'],
    ['user', 'user-suspended-1.json', 'USER_SUSPENDED'],
    ['userTweets', 'user-protected-1.json', 'USER_PROTECTED'],
    ['followers', 'user-suspended-1.json', 'USER_SUSPENDED'],
  ])('the lookup %s with the answer %s is refused with %s', async (operation, file, code) => {
    const answer = await lookUp(operation, { ref: '783214' }, file);
    if (answer) expect(answer).toMatchObject({ kind: 'refused', code });
  });

  it.each([
    ['followers', 'user-followers-1.json', 100, '5CS0O0C6II61EZZZ'],
    ['followers', 'user-followers-2.json', 100, 'HT6V599RJBB1CZZZ'],
    ['userTweets', 'user-tweets-1.json', 100, '7140dibdnow9c7btw3t3bne6afapt2a6nif3ncl044raq'],
    ['followers', 'users-lookup-1.json', 96, undefined],
    ['followers', 'users-by-partial-1.json', 8, undefined],
  ])('the lookup %s with the answer %s contains %i entries', async (operation, file, count, nextCursor) => {
    const answer = await lookUp(operation, { ref: '783214' }, file);
    if (!answer) return;
    expect(answer).toMatchObject({ kind: 'found', found: count });
    expect(found(answer)['nextCursor']).toBe(nextCursor);
  });

  it('every retweet of a timeline contains the retweeted tweet', async () => {
    const { data } = found(await lookUp('userTweets', { ref: '2351222345' }, 'user-tweets-1.json'));
    if (!data) return;
    const tweets = data as { text: string; retweetedTweet: object | null }[];
    const retweeted = tweets.filter(({ text }) => text.startsWith('RT @'));
    expect(retweeted.length).toBe(34);
    expect(retweeted.filter(({ retweetedTweet }) => retweetedTweet).length).toBe(34);
  });
});

it('entities of recorded tweets are at their offsets in the unescaped text', async () => {
  const files = ['search-recent-1.json', 'search-recent-2.json', 'search-recent-3.json'];
  const mismatches: string[] = [];
  let looked = 0;
  for (const file of files) {
    const recorded = recordedAnswer('x', file);
    if (!recorded) return;
    const { items } = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstreamOf(recorded).http),
    );
    for (const { bodyJson } of items) {
      const { text, entities } = JSON.parse(bodyJson) as Marked;
      const points = [...text];
      for (const { start, end, username } of entities.mentions) {
        looked += 1;
        const shown = points.slice(start, end).join('').slice(1);
        if (shown.toLowerCase() !== username.toLowerCase()) mismatches.push(`${shown} is not ${username}`);
      }
    }
  }
  expect(mismatches).toEqual([]);
  expect(looked).toBeGreaterThan(30);
});

it('recorded tweets contain the number of followers of their authors', async () => {
  const recorded = recordedAnswer('x', 'search-recent-1.json');
  if (!recorded) return;
  const { items } = await connector.search(
    criteriaOf({ query: 'lamp' }),
    fakeContext(upstreamOf(recorded).http),
  );
  const { users } = (JSON.parse(recorded.bytes.toString()) as Recording).includes;
  const followers = new Map(users.map(({ id, public_metrics }) => [id, public_metrics.followers_count]));
  const read = items.map(
    ({ bodyJson }) => JSON.parse(bodyJson) as { authorId: string; authorFollowers: number },
  );
  expect(read.map(({ authorFollowers }) => authorFollowers)).toEqual(
    read.map(({ authorId }) => followers.get(authorId)),
  );
  expect(Math.max(...read.map(({ authorFollowers }) => authorFollowers))).toBeGreaterThan(0);
});

interface Recording {
  includes: { users: { id: string; public_metrics: { followers_count: number } }[] };
}

interface Marked {
  text: string;
  entities: { mentions: { start: number; end: number; username: string }[] };
}
