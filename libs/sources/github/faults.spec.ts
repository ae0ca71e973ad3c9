import { SPEC_NOW } from '../testing/fake-upstream.js';
import { discussion, discussions } from './testing/fixtures.js';
import { withToken, withoutToken, read, issues } from './testing/search.js';

describe('faults of GitHub', () => {
  const reset = String(SPEC_NOW.getTime() / 1000 + 42);
  const secondary = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' };

  it.each([
    [
      'a secondary limit with a time',
      { status: 403, headers: { 'retry-after': '8' }, body: secondary },
      'github answered 403: too many requests in a short time, asked to wait 8 s',
      8_000,
    ],
    [
      'a secondary limit in a window that is used up',
      { status: 429, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: secondary },
      'github answered 429: too many requests in a short time, asked to wait 42 s',
      42_000,
    ],
    [
      'a secondary limit without a time',
      { status: 403, headers: { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': reset }, body: secondary },
      'github answered 403: too many requests in a short time, asked to wait 60 s',
      60_000,
    ],
    [
      'a window that is used up',
      { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: {} },
      'github answered 403: too many requests, asked to wait 42 s',
      42_000,
    ],
    [
      'a window that is used up, reported only in the message',
      { status: 403, body: { message: 'API Rate Limit Exceeded for 192.0.2.1' } },
      'github answered 403: too many requests, asked to wait',
      undefined,
    ],
  ])(
    '%s is reported, with the time to wait if GitHub states this time',
    async (_, answer, message, retryAfterMs) => {
      const reading = read({ query: 'lamp', filters: issues }, { answer });
      await expect(reading).rejects.toMatchObject({ kind: 'rate_limited', message, retryAfterMs });
    },
  );

  it('a search that GitHub does not understand is reported, with the possible reasons', async () => {
    const answer = { status: 422, body: { message: 'Validation Failed', errors: [{ message: 'x' }] } };
    await expect(read({ query: 'lamp', filters: issues }, { answer })).rejects.toMatchObject({
      kind: 'unexpected_status',
      message:
        'github answered 422: the search was not understood, or it names a repository or account that does not exist or is private; check the words and filters of the search',
    });
  });

  it.each([
    [withToken, 'github answered 401: the token was not accepted; check SOURCE_GITHUB_TOKEN'],
    [withoutToken, 'github answered 401: it requires a sign-in; set SOURCE_GITHUB_TOKEN'],
  ])(
    'a 401 is reported with the setting of the token, whether a token was sent or not',
    async (of, message) => {
      const answer = { status: 401, body: { message: 'Bad credentials' } };
      await expect(read({ query: 'lamp', filters: issues }, { of, answer })).rejects.toMatchObject({
        kind: 'unauthorized',
        message,
      });
    },
  );

  it.each([
    ['RATE_LIMITED', 'rate_limited', 'github answered 200 (RATE_LIMITED): the points of an hour are used up'],
    [
      'FORBIDDEN',
      'forbidden',
      'github answered 200 (FORBIDDEN): the token has no permission to read discussions; check SOURCE_GITHUB_TOKEN or remove discussion from filters.kinds',
    ],
    ['<b>', 'unexpected_status', 'github answered 200: the search for discussions was not understood'],
  ])('the GraphQL fault %s with status 200 has the kind "%s"', async (type, kind, message) => {
    const answer = { body: { data: null, errors: [{ type, message: 'x' }] } };
    const init = { query: 'lamp', filters: { kinds: 'discussion' } };
    await expect(read(init, { of: withToken, answer })).rejects.toMatchObject({ kind, message });
  });

  it.each([[{}], [{ data: {} }], [{ data: { search: { nodes: {} } } }], [discussions([{ id: 'x' }])]])(
    'a GraphQL answer of unknown shape is a fault: %j',
    async (body) => {
      const init = { query: 'lamp', filters: { kinds: 'discussion' } };
      await expect(read(init, { of: withToken, answer: { body } })).rejects.toMatchObject({
        kind: 'unknown_shape',
      });
    },
  );

  it('a partial GraphQL answer causes a warning', async () => {
    const body = { ...discussions([discussion(1, SPEC_NOW)]), errors: [{ type: 'NOT_FOUND' }] };
    const { fetched } = await read(
      { query: 'lamp', filters: { kinds: 'discussion' } },
      { of: withToken, answer: { body } },
    );
    expect(fetched.items.length).toBe(1);
    expect(fetched.warnings).toEqual([
      'github: the search for discussions returned only a part of the results',
    ]);
  });
});
