import type { FakePost } from '../../testing/connector-contract.js';
import { SPEC_NOW, type FakeAnswer, type FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: tweets in the current format, and a search whose page tokens are offsets.

/** An author in `includes.users`. */
export const ADA = {
  id: '71001',
  username: 'Ada_Lamps',
  name: 'Ada &amp; B.',
  profile_image_url: 'https://pbs.example/ada.jpg',
  verified: true,
  verified_type: 'blue',
  protected: false,
  public_metrics: {
    followers_count: 12,
    following_count: 34,
    tweet_count: 56,
    listed_count: 7,
    like_count: 89,
  },
};

/** Returns the profile of an account in a lookup. */
export function userRecord(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...ADA,
    description: 'Lamps &amp; light: https://t.co/lampsAAAA1',
    created_at: '2014-05-01T08:00:00.000Z',
    location: 'Berlin',
    url: 'https://t.co/lampsBBBB2',
    entities: {
      url: {
        urls: [{ start: 0, end: 23, url: 'https://t.co/lampsBBBB2', expanded_url: 'https://lamps.example' }],
      },
      description: {
        urls: [{ url: 'https://t.co/lampsAAAA1', expanded_url: 'https://lamps.example/about' }],
      },
    },
    ...more,
  };
}

/** Returns a tweet in `data`. */
export function tweetRecord(
  n: number,
  at: Date,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: tweetId(n),
    text: `Lamp number ${n}`,
    author_id: ADA.id,
    conversation_id: tweetId(n),
    created_at: at.toISOString(),
    edit_history_tweet_ids: [tweetId(n)],
    lang: 'en',
    possibly_sensitive: false,
    public_metrics: {
      retweet_count: 1,
      reply_count: 2,
      like_count: 3,
      quote_count: 4,
      bookmark_count: 5,
      impression_count: 600,
    },
    ...more,
  };
}

/** Returns the id of invented tweet n. A higher n is an older tweet. */
export function tweetId(n: number): string {
  return String(BigInt(tweetIdAt(SPEC_NOW)) - BigInt(n));
}

/** Returns an id that a tweet of this instant could have. */
export function tweetIdAt(at: Date): string {
  return String((BigInt(at.getTime()) - 1_288_834_974_657n) << 22n);
}

/** Returns an answer with these tweets. */
export function answerOf(data: readonly unknown[], more: Record<string, unknown> = {}) {
  const ids = data.map((one) => String((one as { id?: unknown } | null)?.id));
  return {
    ...(data.length > 0 && { data }),
    includes: { users: [ADA] },
    meta: { result_count: data.length, ...(data.length > 0 && { newest_id: ids[0], oldest_id: ids.at(-1) }) },
    ...more,
  };
}

/** Returns the answer to a search among these tweets. */
export function serveTweets(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const query = request.at.searchParams;
  const [sinceId, startTime] = [query.get('since_id') ?? '0', query.get('start_time') ?? ''];
  const found = posts.filter(
    ({ n, at }) => BigInt(tweetId(n)) > BigInt(sinceId) && at.toISOString() >= startTime,
  );
  const start = Number(query.get('next_token')?.slice(1) ?? 0);
  const end = start + Number(query.get('max_results') ?? 10);
  const answer = answerOf(found.slice(start, end).map(({ n, at }) => tweetRecord(n, at)));
  const next = end < found.length ? { next_token: `t${end}` } : {};
  return { body: { ...answer, meta: { ...answer.meta, ...next } } };
}
