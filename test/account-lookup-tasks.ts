import type { SourceId } from '#contracts';
import type { PostInput } from '../apps/simulator/index.js';
import { pagesOf, type LookupsUnderTest } from './lookups-under-test.js';

const TIMEOUT_MS = 90_000;

/** Lookups of accounts of X, and of their tweets and followers. */
export function accountLookupTasks(
  lookups: () => LookupsUnderTest,
  got: LookupsUnderTest['got'],
  publish: (source: SourceId, input: PostInput) => string,
  requestsTo: (source: SourceId) => number,
): void {
  describe('an account of x', () => {
    it(
      'is found by its handle and by its numeric id',
      async () => {
        const byName = await got('/v1/x/users/ada_l');
        expect(byName.body).toMatchObject({
          data: { username: 'ada_l', displayName: 'Ada L', protected: false },
          meta: { credits_used: 3 },
        });
        const { id } = byName.body.data;
        for (const ref of ['@ada_l', '%40ada_l', id]) {
          const answer = await got(`/v1/x/users/${ref}`);
          expect([answer.status, answer.body]).toEqual([200, byName.body]);
          expect(answer.facts).toEqual([
            {
              source: 'x',
              operation: 'user',
              question: { ref: decodeURIComponent(ref) },
              outcome: 'found',
              found: 1,
              costCredits: 3,
            },
          ]);
        }
      },
      TIMEOUT_MS,
    );

    it(
      'returns only its profile, without tweets and followers, if it is protected',
      async () => {
        const profile = await got('/v1/x/users/protected_ann');
        expect([profile.status, profile.body.data.protected]).toEqual([200, true]);
        const tweets = await got('/v1/x/users/protected_ann/tweets');
        expect([tweets.status, tweets.body.code]).toEqual([404, 'USER_PROTECTED']);
        expect(tweets.facts).toMatchObject([{ outcome: 'USER_PROTECTED', found: 0, costCredits: 3 }]);
        const followers = await got(`/v1/x/users/${profile.body.data.id}/followers`);
        expect([followers.status, followers.body.code]).toEqual([404, 'USER_PROTECTED']);
      },
      TIMEOUT_MS,
    );

    it.each([
      ['/v1/x/users/missing_cid', 'user', 'USER_NOT_FOUND'],
      ['/v1/x/users/42', 'user', 'USER_NOT_FOUND'],
      ['/v1/x/users/suspended_bob', 'user', 'USER_SUSPENDED'],
      ['/v1/x/users/suspended_bob/following', 'following', 'USER_SUSPENDED'],
      ['/v1/x/users/missing_cid/tweets', 'userTweets', 'USER_NOT_FOUND'],
    ])(
      'returns 404, but costs credits, if it does not exist or is suspended: %s [errors.users, errors.users-charged]',
      async (path, operation, code) => {
        const answer = await got(path);
        expect([answer.status, answer.body.code]).toEqual([404, code]);
        expect(answer.facts).toMatchObject([{ operation, outcome: code, found: 0, costCredits: 3 }]);
      },
      TIMEOUT_MS,
    );

    it(
      'returns its tweets, followers and followed accounts page by page [credits.lookups]',
      async () => {
        const ids = Array.from({ length: 103 }, (_, n) =>
          publish('x', { text: `Lamp ${n}`, author: 'dora' }),
        ).reverse();
        const tweets = await pagesOf(lookups(), '/v1/x/users/dora/tweets', 'data', 3);
        expect(tweets.pages.map((page) => page.map(({ id }) => id))).toEqual([
          ids.slice(0, 100),
          ids.slice(100),
        ]);
        expect(tweets.questions[0]).toEqual({ ref: 'dora' });
        expect(tweets.questions[1]).toEqual({ ref: 'dora', cursor: expect.stringMatching(/^7140dib/) });
        const { body } = await got('/v1/x/users/dora');
        for (const list of ['followers', 'following']) {
          const { pages } = await pagesOf(lookups(), `/v1/x/users/@dora/${list}`, 'data', 3);
          const found = pages.flat();
          expect(pages[0]?.length).toBe(Math.min(100, found.length));
          expect(new Set(found.map(({ id }) => id)).size).toBe(body.data.metrics[list]);
        }
      },
      TIMEOUT_MS,
    );

    it(
      'returns 400 for a wrong cursor or an unknown parameter, without a request to x',
      async () => {
        const { nextCursor } = (await got('/v1/x/users/dora/followers')).body;
        const before = requestsTo('x');
        for (const path of [
          '/v1/x/users/dora/followers?cursor=forged',
          `/v1/x/users/dora/following?cursor=${nextCursor}`,
          `/v1/x/users/grace_h/followers?cursor=${nextCursor}`,
          `/v1/x/users/dora/followers?cursor=${nextCursor}&colour=red`,
        ]) {
          const answer = await got(path);
          expect([answer.status, answer.body.code, answer.facts]).toEqual([400, 'VALIDATION', []]);
        }
        expect(requestsTo('x')).toBe(before);
      },
      TIMEOUT_MS,
    );
  });
}
