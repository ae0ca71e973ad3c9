import fc from 'fast-check';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';
import { estimateChangeTasks } from './estimate-change-tasks.js';

let service: InterfaceUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface({
    SOURCE_X_TOKEN: 'x',
    AI_OPENAI_TOKEN: 'o',
    AI_GEMINI_TOKEN: 'g',
  });
  ada = await service.tenant('growth');
});
afterAll(() => service?.stop());

const estimate = (body: unknown, as = ada, path = '/v1/keywords/estimate') => as.api.post(path, body);

const rich = keywordBody({
  name: 'Priced',
  sentiment_enabled: false,
  co_brands_enabled: true,
  backfill: true,
  sources: [
    {
      source: 'x',
      enabled: true,
      refresh_interval_seconds: 1800,
      searches: [
        { label: 'name', overrides: { query: 'acme rocket' } },
        { id: '0190a0b0-0000-7000-8000-000000000001', overrides: { terms: ['acme', 'rocket'] } },
      ],
    },
    { source: 'hackernews', enabled: true },
    {
      source: 'ai_answers',
      enabled: true,
      refresh_interval_seconds: 86_400,
      searches: [{ overrides: { filters: { prompt: 'Best rocket?' } } }],
    },
    { source: 'rss', enabled: false },
  ],
});

describe('an estimate', () => {
  it('has figures for the keyword, each source and each search, and creates nothing [estimate.valid, estimate.creates-nothing, estimate.totals, estimate.by-source, estimate.by-search, estimate.first-scan, estimate.normalized, estimate.account, estimate.ai-answers, limits.free-estimate]', async () => {
    const { status, body } = await estimate(rich);
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      estimateToken: expect.any(String),
      estimateTokenExpiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      warnings: expect.any(Array),
      estimate: {
        // x: 2 × 1,440 × 5; hackernews: 4,320 × 1; ai_answers: 30 × 2 engines × (5 + 2).
        monthlyCredits: 14_400 + 4_320 + 420,
        checksPerMonth: 2_880 + 4_320 + 30,
        bySource: [
          { source: 'x', intervalSeconds: 1800, searches: 2, checksPerMonth: 2880, monthlyCredits: 14_400 },
          {
            source: 'hackernews',
            intervalSeconds: 600,
            searches: 1,
            checksPerMonth: 4320,
            monthlyCredits: 4320,
          },
          {
            source: 'ai_answers',
            intervalSeconds: 86_400,
            searches: 1,
            checksPerMonth: 30,
            monthlyCredits: 420,
          },
        ],
        creditsPerItem: { analysis: 0, bucket: 0, agentStep: 0 },
        bySearch: [
          {
            source: 'x',
            searchId: null,
            label: 'name',
            creditsPerCheck: 5,
            checksPerMonth: 1440,
            monthlyCredits: 7200,
          },
          {
            source: 'x',
            searchId: '0190a0b0-0000-7000-8000-000000000001',
            label: null,
            creditsPerCheck: 5,
            checksPerMonth: 1440,
            monthlyCredits: 7200,
          },
          {
            source: 'hackernews',
            searchId: null,
            label: null,
            creditsPerCheck: 1,
            checksPerMonth: 4320,
            monthlyCredits: 4320,
          },
          {
            source: 'ai_answers',
            searchId: null,
            label: null,
            creditsPerCheck: 14,
            checksPerMonth: 30,
            monthlyCredits: 420,
          },
        ],
        // x: 100 tweets for each search; the others: one check each.
        firstScanCredits: 200 + 1 + 14,
        startCredits: 200 + 1 + 14,
        normalized: {
          refreshIntervalSeconds: 600,
          sentimentEnabled: false,
          coBrandsEnabled: true,
          sources: [
            {
              source: 'x',
              intervalSeconds: 1800,
              searches: [
                { id: null, label: 'name', resolvedCriteria: { market: 'global', query: 'acme rocket' } },
                {
                  id: '0190a0b0-0000-7000-8000-000000000001',
                  label: null,
                  resolvedCriteria: { market: 'global', query: 'acme', terms: ['acme', 'rocket'] },
                },
              ],
            },
            {
              source: 'hackernews',
              intervalSeconds: 600,
              searches: [{ id: null, label: null, resolvedCriteria: { market: 'global', query: 'acme' } }],
            },
            {
              source: 'ai_answers',
              intervalSeconds: 86_400,
              searches: [
                {
                  id: null,
                  label: null,
                  resolvedCriteria: {
                    market: 'global',
                    query: 'acme',
                    filters: { prompt: 'Best rocket?' },
                  },
                },
              ],
            },
          ],
        },
        planAllowance: 250_000,
        creditsRemaining: 250_000,
        searchSlots: { inUse: 0, requested: 4, limit: 150 },
      },
    });
    expect((await ada.api.get('/v1/keywords')).body.data).toEqual([]);
    expect((await ada.api.get('/v1/credits')).body.usedThisPeriod).toBe(0);
  });

  it('is valid for 15 minutes [credits.token-15-minutes]', async () => {
    const before = Date.now();
    const { estimateTokenExpiresAt } = (await estimate(keywordBody())).body;
    const until = Date.parse(estimateTokenExpiresAt);
    expect(until).toBeGreaterThanOrEqual(before + 15 * 60_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 15 * 60_000);
  });

  it('uses only camelCase under /v1/queries, as the create does', async () => {
    const path = '/v1/queries/estimate';
    expect((await estimate(keywordBody(), ada, path)).body).toMatchObject({
      valid: false,
      refusal: { status: 400, code: 'VALIDATION' },
    });
    const camel = {
      name: 'Camel',
      refreshIntervalSeconds: 600,
      globalCriteria: { market: 'global', query: 'camel' },
      sources: [{ source: 'hackernews', enabled: true }],
    };
    expect((await estimate(camel, ada, path)).body.valid).toBe(true);
  });

  it('is the sum of all enabled searches: the checks of a month, times the rate of the source [estimate.totals, estimate.rate, credits.month]', async () => {
    const rates: Record<string, number> = { hackernews: 1, mastodon: 1, x: 5 };
    const floors: Record<string, number> = { hackernews: 120, mastodon: 120, x: 600 };
    const entry = fc.record({
      source: fc.constantFrom('hackernews', 'mastodon', 'x'),
      interval: fc.integer({ min: 600, max: 4_000_000 }),
      labels: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 4 }),
      enabled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(entry, { selector: ({ source }) => source, minLength: 1 }),
        async (entries) => {
          const body = keywordBody({
            sources: entries.map(({ source, interval, labels, enabled }) => ({
              source,
              enabled,
              refresh_interval_seconds: Math.max(interval, floors[source] ?? 0),
              searches: labels.map((label) => ({ label, overrides: { query: label } })),
            })),
          });
          const { valid, estimate: priced } = (await estimate(body)).body;
          expect(valid).toBe(true);
          const sum = entries
            .filter(({ enabled }) => enabled)
            .reduce(
              (total, { source, interval, labels }) =>
                total + labels.length * Math.ceil(2_592_000 / interval) * (rates[source] ?? 0),
              0,
            );
          expect(priced.monthlyCredits).toBe(sum);
          expect(priced.firstScanCredits).toBe(0);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('an estimate of a keyword', () => {
  it.each<[string, Record<string, unknown>]>([
    ['no name', { name: undefined }],
    ['an unknown key', { colour: 'red' }],
    ['only one term', { global_criteria: { market: 'global', terms: ['one'] } }],
    ['the same term twice', { global_criteria: { market: 'global', terms: ['one', ' ONE'] } }],
    [
      'a channel that does not exist',
      { channels: [{ channelId: '0190a0b0-0000-7000-8000-000000000001', mode: 'instant' }] },
    ],
    ['an interval below the floor', { refresh_interval_seconds: 119 }],
    [
      'too many terms',
      { global_criteria: { market: 'global', terms: Array.from({ length: 31 }, (_, n) => `t${n}`) } },
    ],
    [
      'the same search twice',
      { sources: [{ source: 'hackernews', enabled: true, searches: [{ label: 'a' }, { label: 'b' }] }] },
    ],
    ['a source that is not configured', { sources: [{ source: 'reddit', enabled: true }] }],
  ])(
    'returns 200 with the refusal that the create returns, for %s [keywords.terms, estimate.refusal, estimate.interval-floors, estimate.multi-term, estimate.channels, estimate.collisions]',
    async (_, more) => {
      const body = keywordBody(more);
      const refused = await ada.api.post('/v1/keywords', body);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      const { status, body: answer } = await estimate(body);
      expect([status, answer]).toEqual([
        200,
        {
          valid: false,
          refusal: {
            status: refused.status,
            code: refused.body.code,
            message: refused.body.error,
            ...(refused.body.details ? { details: refused.body.details } : {}),
          },
        },
      ]);
    },
  );
});

estimateChangeTasks(
  () => service,
  () => ada,
  estimate,
  rich,
);
