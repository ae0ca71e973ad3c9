import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../testing/fake-upstream.js';
import { postView, serveSignIn } from './testing/fixtures.js';
import { connector } from './testing/connector.js';

describe('requests to Bluesky with a session', () => {
  const search = (answer: (request: FakeRequest) => FakeAnswer, session = new Map<string, unknown>()) => {
    const upstream = fakeUpstream('bluesky', answer, { settings: connector.requiredSettings.flat() });
    const reading = connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { session }));
    const paths = () => upstream.requests.map(({ at }) => at.pathname.split('.').at(-1));
    return { reading, paths, requests: upstream.requests };
  };
  const endedFor = (jwt: string, ended: FakeAnswer) => (request: FakeRequest) =>
    serveSignIn(request) ??
    (request.headers?.['authorization'] === `Bearer ${jwt}`
      ? ended
      : { body: { posts: [postView(1, SPEC_NOW)] } });

  it('sign in only once for several searches', async () => {
    const session = new Map<string, unknown>();
    const first = search(endedFor('none', {}), session);
    const second = search(endedFor('none', {}), session);
    await Promise.all([first.reading, second.reading]);
    expect(first.requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://bsky.social/xrpc/com.atproto.server.createSession',
      body: '{"identifier":"us.lamps.example","password":"app-pass"}',
    });
    expect(first.requests[1]?.headers).toMatchObject({ authorization: 'Bearer access-1' });
    expect(second.paths()).toEqual(['searchPosts']);
  });

  it.each([
    [
      "400 ExpiredToken, as sent by an account's server (PDS)",
      { status: 400, body: { error: 'ExpiredToken', message: 'Token has expired' } },
    ],
    [
      '401, as sent by the server that searches (AppView)',
      { status: 401, body: { error: 'ExpiredToken', message: 'Token has expired' } },
    ],
  ])('renew the session after the response %s', async (_, ended) => {
    const { reading, paths } = search(endedFor('access-1', ended));
    expect((await reading).items.length).toBe(1);
    expect(paths()).toEqual(['createSession', 'searchPosts', 'refreshSession', 'searchPosts']);
  });

  it('sign in with the password if the refresh token has also expired', async () => {
    let signIns = 0;
    const { reading, paths } = search((request) => {
      if (request.at.pathname.endsWith('refreshSession'))
        return { status: 400, body: { error: 'ExpiredToken' } };
      if (request.at.pathname.endsWith('createSession')) {
        signIns += 1;
        return { body: { accessJwt: `access-${signIns}`, refreshJwt: 'refresh-1' } };
      }
      return endedFor('access-1', { status: 400, body: { error: 'ExpiredToken' } })(request);
    });
    await reading;
    expect(paths()).toEqual([
      'createSession',
      'searchPosts',
      'refreshSession',
      'createSession',
      'searchPosts',
    ]);
  });

  it('report a refused sign-in, with the settings to check', async () => {
    const session = new Map<string, unknown>();
    const { reading } = search(() => ({ status: 401, body: { error: 'AuthenticationRequired' } }), session);
    await expect(reading).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'bluesky answered 401: the credentials were not accepted; check SOURCE_BLUESKY_CLIENT_ID and SOURCE_BLUESKY_CLIENT_SECRET',
    });
    expect(session.size).toBe(0);
  });

  it('report a query that Bluesky does not understand', async () => {
    const { reading } = search(endedFor('access-1', { status: 400, body: { error: 'BadQueryString' } }));
    await expect(reading).rejects.toMatchObject({
      kind: 'unexpected_status',
      message: 'bluesky answered 400 (BadQueryString): the request was not understood',
    });
  });

  it('report how long to wait if Bluesky answers 429', async () => {
    const headers = {
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(SPEC_NOW.getTime() / 1000 + 120),
    };
    const { reading } = search(
      endedFor('access-1', { status: 429, headers, body: { error: 'RateLimitExceeded' } }),
    );
    await expect(reading).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 120_000 });
  });
});
