import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import { createYoutubeConnector } from './index.js';
import { problem, searchResult } from './testing/fixtures.js';

const connector = createYoutubeConnector({ key: 's3cret-key' });

describe('requests to YouTube', () => {
  it('have daily quotas of searches and units, until midnight in California', () => {
    const { quotas } = connector.budget;
    expect(Object.entries(quotas ?? {}).map(([name, { points }]) => [name, points])).toEqual([
      ['search', 100],
      ['units', 10_000],
    ]);
    expect(quotas?.['search']?.nextReset(SPEC_NOW).toISOString()).toBe('2026-03-05T08:00:00.000Z');
    expect(quotas?.['units']?.nextReset(new Date('2026-07-01T06:59:00Z')).toISOString()).toBe(
      '2026-07-01T07:00:00.000Z',
    );
  });

  it('each use one point of their quota', async () => {
    const spent: unknown[] = [];
    const upstream = fakeUpstream(
      'youtube',
      ({ at }) => ({
        body: at.pathname.endsWith('/videos') ? { items: [] } : { items: [searchResult(1, SPEC_NOW)] },
      }),
      {
        budget: () => ({
          before: ({ spends }) => Promise.resolve(void spent.push(spends)),
          after: () => undefined,
        }),
      },
    );
    await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
    expect(spent).toEqual([
      { quota: 'search', points: 1 },
      { quota: 'units', points: 1 },
    ]);
  });

  async function refused(answer: FakeAnswer) {
    const upstream = fakeUpstream('youtube', () => answer);
    const fault: unknown = await connector
      .search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http))
      .catch((error: unknown) => error);
    expect(String(fault)).not.toMatch(/s3cret|<a href/);
    return { fault, heldOff: upstream.heldOff };
  }
  const perDay = {
    details: [{ reason: 'RATE_LIMIT_EXCEEDED', metadata: { quota_limit: 'SearchPerDayPerProject' } }],
  };

  it.each([
    [{ status: 403, body: problem(403, 'quotaExceeded') }, 403],
    [{ status: 403, body: problem(403, 'dailyLimitExceeded') }, 403],
    [{ status: 429, body: problem(429, 'rateLimitExceeded', perDay) }, 429],
  ])('must wait until midnight in California if the quota is used up (%j)', async (answer, status) => {
    const { fault, heldOff } = await refused(answer);
    const waitMs = 20 * 3_600_000;
    const reason = `youtube answered ${status}: the day's searches of the key are used up; new ones are allowed from midnight in California`;
    expect(fault).toMatchObject({
      kind: 'quota_spent',
      statusCode: status,
      retryAfterMs: waitMs,
      message: reason,
    });
    expect(heldOff).toEqual([{ waitMs, reason, quota: 'search' }]);
  });

  it('close only the quota of units, not that of searches, if the units are used up', async () => {
    const upstream = fakeUpstream('youtube', ({ at }) =>
      at.pathname.endsWith('/videos')
        ? { status: 403, body: problem(403, 'quotaExceeded') }
        : { body: { items: [searchResult(1, SPEC_NOW)] } },
    );
    await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http)).catch(() => undefined);
    expect(upstream.heldOff).toMatchObject([{ quota: 'units' }]);
  });

  it.each(['rateLimitExceeded', 'userRateLimitExceeded'])(
    'do not close the quota if only the limit of a minute is reached (%s)',
    async (reason) => {
      const { fault, heldOff } = await refused({ status: 403, body: problem(403, reason) });
      expect(fault).toMatchObject({
        kind: 'rate_limited',
        statusCode: 403,
        message: 'youtube answered 403: too many requests, asked to wait',
      });
      expect(heldOff).toEqual([]);
    },
  );

  it.each([
    [problem(400, 'keyInvalid')],
    [problem(400, 'badRequest', { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] })],
  ])('are unauthorized if the key is wrong, and the error names the setting (%j)', async (body) => {
    expect((await refused({ status: 400, body })).fault).toMatchObject({
      kind: 'unauthorized',
      message: 'youtube answered 400: the API key was not accepted; check SOURCE_YOUTUBE_TOKEN',
    });
  });

  it('are forbidden if the API is not enabled', async () => {
    expect((await refused({ status: 403, body: problem(403, 'accessNotConfigured') })).fault).toMatchObject({
      kind: 'forbidden',
      message:
        'youtube answered 403: the key of SOURCE_YOUTUBE_TOKEN has no access to the YouTube Data API v3; turn it on in the Google Cloud project of the key, and look at the key’s restrictions',
    });
  });

  it('cause an error if YouTube does not understand them', async () => {
    expect((await refused({ status: 400, body: problem(400, 'invalidSearchFilter') })).fault).toMatchObject({
      kind: 'unexpected_status',
      message: 'youtube answered 400: the request was not understood',
    });
  });
});
