import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createRedditConnector } from './index.js';
import { listing } from './testing/fixtures.js';

const connector = createRedditConnector({ clientId: 'app', clientSecret: 's3cret' });

describe('signing in to reddit', () => {
  function upstreamOf(answers: (token: string | undefined, signIns: number) => FakeAnswer) {
    let signIns = 0;
    return fakeUpstream(
      'reddit',
      (request) => {
        if (request.at.pathname !== '/api/v1/access_token')
          return answers(request.headers?.['authorization'], signIns);
        signIns += 1;
        return { body: { access_token: `token-${signIns}`, expires_in: 3_600 } };
      },
      { settings: connector.requiredSettings.flat() },
    );
  }
  const criteria = criteriaOf({ query: 'lamp' });
  const search = (upstream: ReturnType<typeof upstreamOf>, more: Partial<FetchContext> = {}) =>
    connector.search(criteria, fakeContext(upstream.http, { match: 'platform', ...more }));

  it('sends the credentials of the application, and gives the search the token', async () => {
    const upstream = upstreamOf(() => ({ body: listing([]) }));
    await search(upstream);
    const [signIn, request] = upstream.requests;
    expect(signIn).toMatchObject({
      method: 'POST',
      url: 'https://www.reddit.com/api/v1/access_token',
      headers: { authorization: 'Basic YXBwOnMzY3JldA==', 'user-agent': 'server:app:v1 (Earshot)' },
      body: 'grant_type=client_credentials',
    });
    expect(request?.headers).toMatchObject({
      authorization: 'bearer token-1',
      'user-agent': 'server:app:v1 (Earshot)',
    });
  });

  it('happens once while the token is valid, and again shortly before it expires', async () => {
    const upstream = upstreamOf(() => ({ body: listing([]) }));
    const session = new Map();
    await search(upstream, { session });
    await search(upstream, { session });
    expect(upstream.requests.length).toBe(3);
    await search(upstream, { session, now: new Date(SPEC_NOW.getTime() + 3_550_000) });
    expect(upstream.requests.length).toBe(5);
  });

  it('is repeated once if the token is refused', async () => {
    const upstream = upstreamOf((token) =>
      token === 'bearer token-1' ? { status: 401, body: { error: 401 } } : { body: listing([]) },
    );
    await search(upstream);
    expect(upstream.requests.length).toBe(4);
  });

  it('is not repeated a second time if the new token is also refused', async () => {
    const upstream = upstreamOf(() => ({ status: 401, body: { message: 'Unauthorized', error: 401 } }));
    await expect(search(upstream)).rejects.toMatchObject({ kind: 'unauthorized', statusCode: 401 });
    expect(upstream.requests.length).toBe(4);
  });

  it.each([
    [{ status: 401, body: { message: 'Unauthorized', error: 401 } }, 'unauthorized'],
    [{ body: { error: 'invalid_grant' } }, 'unauthorized'],
    [{ body: {} }, 'unknown_shape'],
  ] as const)(
    'fails if the answer is %j, and the error of a refusal names the settings to check',
    async (answer, kind) => {
      const upstream = fakeUpstream('reddit', () => answer, { settings: connector.requiredSettings.flat() });
      const session = new Map();
      const fault = await connector
        .search(criteria, fakeContext(upstream.http, { session }))
        .catch((error: unknown) => error);
      expect(fault).toMatchObject({ kind });
      if (kind === 'unauthorized') {
        expect(String(fault)).toContain('SOURCE_REDDIT_CLIENT_ID and SOURCE_REDDIT_CLIENT_SECRET');
      }
      expect(session.size).toBe(0);
    },
  );
});
