import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createTiktokConnector } from './index.js';
import { answerJson, problem, serveSignIn } from './testing/fixtures.js';

const connector = createTiktokConnector({ clientId: 'key', clientSecret: 's3cret&' });
const criteria = criteriaOf({ query: 'lamp' });

function upstreamOf(answer: (token: string | undefined) => FakeAnswer) {
  let signIns = 0;
  return fakeUpstream(
    'tiktok',
    (request) => {
      if (request.at.pathname !== '/v2/oauth/token/') return answer(request.headers?.['authorization']);
      signIns += 1;
      return { body: { access_token: `clt.${signIns}`, expires_in: 7_200, token_type: 'Bearer' } };
    },
    { settings: connector.requiredSettings.flat() },
  );
}
const search = (upstream: ReturnType<typeof fakeUpstream>, more: Partial<FetchContext> = {}) =>
  connector.search(criteria, fakeContext(upstream.http, more));

describe('signing in to TikTok', () => {
  it('sends the project’s key and secret, and gives the search the token', async () => {
    const upstream = upstreamOf(() => ({ body: answerJson([]) }));
    await search(upstream);
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://open.tiktokapis.com/v2/oauth/token/',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'client_key=key&client_secret=s3cret%26&grant_type=client_credentials',
    });
    expect(upstream.requests[1]?.headers).toMatchObject({ authorization: 'Bearer clt.1' });
  });

  it('happens once while the token is valid, and again some minutes before it expires', async () => {
    const upstream = upstreamOf(() => ({ body: answerJson([]) }));
    const session = new Map();
    await Promise.all([search(upstream, { session }), search(upstream, { session })]);
    expect(upstream.requests.length).toBe(3);
    await search(upstream, { session, now: new Date(SPEC_NOW.getTime() + 6_950_000) });
    expect(upstream.requests.length).toBe(5);
  });

  it('is repeated once if the token is refused', async () => {
    const upstream = upstreamOf((token) =>
      token === 'Bearer clt.1'
        ? { status: 401, body: problem('access_token_invalid') }
        : { body: answerJson([]) },
    );
    await search(upstream);
    expect(upstream.requests.length).toBe(4);
    const never = upstreamOf(() => ({ status: 401, body: problem('access_token_invalid') }));
    await expect(search(never)).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'tiktok answered 401: the credentials were not accepted; check SOURCE_TIKTOK_CLIENT_ID and SOURCE_TIKTOK_CLIENT_SECRET',
    });
    expect(never.requests.length).toBe(4);
  });

  it('is not repeated for a project that TikTok has not approved', async () => {
    const upstream = upstreamOf(() => ({ status: 401, body: problem('scope_not_authorized') }));
    await expect(search(upstream)).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'tiktok answered 401: the project has no permission to read videos; it needs the scope research.data.basic, which TikTok gives to approved researchers',
    });
    expect(upstream.requests.length).toBe(2);
  });

  it.each([
    [{ body: { error: 'invalid_client', error_description: 'Client key <b>' } }, 'unauthorized'],
    [{ status: 400, body: { error: 'invalid_request' } }, 'unauthorized'],
    [{ body: {} }, 'unknown_shape'],
  ])(
    'fails if the answer is %j, and the error of a refusal names the settings to check',
    async (answer, kind) => {
      const session = new Map();
      const fault: unknown = await search(
        fakeUpstream('tiktok', () => answer),
        { session },
      ).catch((error: unknown) => error);
      expect(fault).toMatchObject({ kind });
      if (kind === 'unauthorized') {
        expect(String(fault)).toContain('check SOURCE_TIKTOK_CLIENT_ID and SOURCE_TIKTOK_CLIENT_SECRET');
        expect(String(fault)).not.toMatch(/<b>|s3cret/);
      }
      expect(session.size).toBe(0);
    },
  );
});

describe('the quota of TikTok', () => {
  it('is a thousand requests a day until 00:00 UTC, and each request except a sign-in counts', async () => {
    const { quotas } = connector.budget;
    expect(Object.entries(quotas ?? {}).map(([name, { points }]) => [name, points])).toEqual([
      ['requests', 1_000],
    ]);
    expect(quotas?.['requests']?.nextReset(SPEC_NOW).toISOString()).toBe('2026-03-05T00:00:00.000Z');
    const spent: unknown[] = [];
    const upstream = fakeUpstream('tiktok', (request) => serveSignIn(request) ?? { body: answerJson([]) }, {
      budget: () => ({
        before: ({ spends }) => Promise.resolve(void spent.push(spends)),
        after: () => undefined,
      }),
    });
    await search(upstream);
    expect(spent).toEqual([undefined, { quota: 'requests', points: 1 }]);
  });

  it('allows no request until 00:00 UTC if it is used up', async () => {
    const upstream = upstreamOf(() => ({ status: 429, body: problem('daily_quota_limit_exceeded') }));
    const waitMs = 12 * 3_600_000;
    const reason =
      "tiktok answered 429: the day's requests are used up; new requests are allowed from 00:00 UTC";
    await expect(search(upstream)).rejects.toMatchObject({
      kind: 'quota_spent',
      statusCode: 429,
      retryAfterMs: waitMs,
      message: reason,
    });
    expect(upstream.heldOff).toEqual([{ waitMs, reason, quota: 'requests' }]);
  });

  it.each([
    [{ status: 429, body: problem('rate_limit_exceeded') }, 'rate_limited', 429],
    [{ status: 500, body: problem('internal_error') }, 'server_error', 500],
    [{ status: 504, body: '<html>Gateway Time-out</html>' }, 'server_error', 504],
    [{ body: problem('internal_error') }, 'server_error', 200],
    [{ body: problem('timeout') }, 'server_error', 200],
    [{ body: problem('something_else') }, 'unexpected_status', 200],
  ])(
    'does not count as used up after another error, and the error is reported: %j',
    async (answer, kind, statusCode) => {
      const upstream = upstreamOf(() => answer);
      const fault: unknown = await search(upstream).catch((error: unknown) => error);
      expect(fault).toMatchObject({ kind, statusCode });
      expect(String(fault)).not.toContain('<b>');
      expect(upstream.heldOff).toEqual([]);
    },
  );
});
