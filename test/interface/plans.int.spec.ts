import { floorSeconds, limitsOf, SOURCE_IDS, type SourceId } from '#contracts';
import { until, type Json } from '#testing';
import { simulatedSources } from '../../apps/simulator/environment.js';
import { connectBilling, type BillingUnderTest } from './billing-under-test.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let billing: BillingUnderTest;

beforeAll(async () => {
  service = await startInterface(simulatedSources('http://127.0.0.1:9'));
  billing = await connectBilling(service.stores.natsUrl);
});
afterAll(async () => {
  await billing?.stop();
  await service?.stop();
});

const HOUR = 3600;
/** Returns a body with an interval that every plan allows. The searches of a source have different queries. */
const body = (searches: number, more: object = {}) =>
  keywordBody({
    refresh_interval_seconds: 24 * HOUR,
    sources: ['hackernews', 'mastodon', 'bluesky', 'lemmy', 'github', 'stackoverflow', 'reddit'].flatMap(
      (source, index) => {
        const own = Math.min(100, searches - index * 100);
        if (own <= 0) return [];
        const list = Array.from({ length: own }, (_, n) => ({ overrides: { query: `q${n}` } }));
        return [{ source, enabled: true, searches: list }];
      },
    ),
    ...more,
  });
const create = (as: Tenant, searches = 1, more: object = {}) =>
  as.api.post('/v1/keywords', body(searches, more));
const states = async (as: Tenant): Promise<[string, string, string | null][]> =>
  (await as.api.all('/v1/keywords'))
    .reverse()
    .map(({ name, state, pausedReason }: Json) => [name, state, pausedReason]);

describe.each(['free', 'solo', 'growth', 'pro'] as const)('the plan %s', (plan) => {
  const limits = limitsOf(plan);

  it(`allows ${limits.keywords} keywords, and not one more [requests.plan-limit, credits.plan-keywords]`, async () => {
    const ada = await service.tenant(plan);
    for (let n = 0; n < (limits.keywords ?? 0); n += 1) expect((await create(ada)).status).toBe(201);
    const answer = await create(ada);
    expect([answer.status, answer.body]).toEqual([
      402,
      {
        error: `the plan ${plan} allows ${limits.keywords} keywords; ${limits.keywords} in use (including those that a user has paused), 1 more requested; delete some or change the plan`,
        code: 'PLAN_LIMIT',
        details: [expect.objectContaining({ path: '' })],
      },
    ]);
    const [newest] = (await ada.api.get('/v1/keywords?limit=1')).body.data;
    await ada.api.delete(`/v1/keywords/${newest.id}`);
    expect((await create(ada)).status).toBe(201);
  });

  it(`allows ${limits.searchSlots} searches, and not one more, whether a keyword, a watch or a change adds the search [requests.plan-limit, estimate.plan-limits, credits.plan-keywords]`, async () => {
    const ada = await service.tenant(plan);
    const slots = limits.searchSlots ?? 0;
    const keyword = (await create(ada, slots - 1)).body;
    const lone = { criteria: { query: 'lone' }, refresh_interval_seconds: 24 * HOUR };
    expect(
      (
        await ada.api.post('/v1/rss/watches', {
          ...lone,
          criteria: { filters: { feed_urls: ['https://example.org/a'] } },
        })
      ).status,
    ).toBe(201);
    const error = `the plan ${plan} allows ${slots} search slots; ${slots} in use (including those that a user has paused), 1 more requested; delete some or change the plan`;
    const refused = (path: string) => ({
      status: 402,
      body: { code: 'PLAN_LIMIT', error, details: [{ path, message: error }] },
    });
    expect(await ada.api.post('/v1/hackernews/watches', lone)).toMatchObject(refused(''));
    if ((limits.keywords ?? 0) > 1) expect(await create(ada)).toMatchObject(refused('sources'));
    const more = body(slots).sources;
    expect(await ada.api.patch(`/v1/keywords/${keyword.id}`, { sources: more })).toMatchObject(
      refused('sources'),
    );
    expect((await ada.api.patch(`/v1/keywords/${keyword.id}`, { name: 'Renamed' })).status).toBe(200);
    expect((await ada.api.post('/v1/keywords/estimate', body(1))).body.refusal.code).toBe('PLAN_LIMIT');
  });

  it(`allows ${limits.termsPerSearch} terms in a search, and not one more [keywords.terms, credits.plan-terms]`, async () => {
    const ada = await service.tenant(plan);
    const terms = (count: number) => ({
      global_criteria: { market: 'global', terms: Array.from({ length: count }, (_, n) => `term ${n}`) },
      sources: [{ source: 'hackernews', enabled: true }],
    });
    expect((await create(ada, 0, terms(limits.termsPerSearch))).status).toBe(201);
    const answer = await create(ada, 0, terms(limits.termsPerSearch + 1));
    const message = `has ${limits.termsPerSearch + 1} terms, but the plan ${plan} allows ${limits.termsPerSearch} terms per search`;
    expect(answer).toMatchObject({
      status: 402,
      body: { code: 'PLAN_LIMIT', error: `global_criteria.terms: ${message}` },
    });
  });

  it('has an interval floor on each source, and the refusal of a shorter interval names this floor [requests.interval-too-low, estimate.interval-floors, credits.plan-floors]', async () => {
    const ada = await service.tenant(plan);
    const criteria: Partial<Record<SourceId, object>> = {
      rss: { filters: { feed_urls: ['https://example.org/feed'] } },
      ai_answers: { filters: { prompt: 'Which?' } },
      vinted: { market: 'fr' },
    };
    for (const source of SOURCE_IDS) {
      const floor = floorSeconds(plan, source);
      const at = async (seconds: number) =>
        (
          await ada.api.post('/v1/keywords/estimate', {
            ...keywordBody({ refresh_interval_seconds: 30 * 24 * HOUR }),
            sources: [
              {
                source,
                enabled: true,
                refresh_interval_seconds: seconds,
                searches: [{ overrides: criteria[source] ?? {} }],
              },
            ],
          })
        ).body;
      expect([`${source} at ${floor} s`, (await at(floor)).valid]).toEqual([`${source} at ${floor} s`, true]);
      expect((await at(floor - 1)).refusal).toMatchObject({
        status: 400,
        code: 'INTERVAL_TOO_LOW',
        message: `sources[0].refresh_interval_seconds: ${floor - 1} s is below the floor of ${floor} s for ${source} with the plan ${plan}`,
      });
    }
  });
});

describe('the plan unlimited', () => {
  it('has no limit of search slots, and a floor of 30 s for each source (an hour for ai_answers) [credits.unlimited]', async () => {
    expect(SOURCE_IDS.map((source) => floorSeconds('unlimited', source))).toEqual(
      SOURCE_IDS.map((source) => (source === 'ai_answers' ? 3600 : 30)),
    );
    const ada = await service.tenant('unlimited');
    expect((await ada.api.post('/v1/keywords/estimate', body(700))).body.estimate.searchSlots).toEqual({
      inUse: 0,
      requested: 700,
      limit: null,
    });
  });
});

describe('a change of plan', () => {
  it('pauses the keywords above the limit, newest first, and resumes them with a larger plan [keywords.pause-plan]', async () => {
    const ada = await service.tenant('solo');
    for (const name of ['1', '2', '3', '4']) await create(ada, 1, { name });
    const [newest] = (await ada.api.get('/v1/keywords?limit=1')).body.data;
    await ada.api.post(`/v1/keywords/${newest.id}/pause`, {});
    await billing.changePlan(ada.accountId, 'free');
    await until('the third is paused', async () => (await states(ada))[2]?.[1] === 'paused');
    await until('the fourth is paused for the plan too', async () => {
      const answer = await ada.api.post(`/v1/keywords/${newest.id}/resume`, {});
      return answer.status === 402 && answer.body.code === 'PLAN_LIMIT';
    });
    expect(await states(ada)).toEqual([
      ['1', 'active', null],
      ['2', 'active', null],
      ['3', 'paused', 'plan'],
      ['4', 'paused', 'user'],
    ]);
    await billing.changePlan(ada.accountId, 'growth');
    await until('the third runs', async () => (await states(ada))[2]?.[1] === 'active');
    expect((await ada.api.post(`/v1/keywords/${newest.id}/resume`, {})).body.state).toBe('active');
  });

  it('pauses even the oldest keywords and watches if their interval or number of terms breaks the new plan', async () => {
    const ada = await service.tenant('pro');
    await create(ada, 1, { name: 'fast', refresh_interval_seconds: 60 });
    const terms = Array.from({ length: 6 }, (_, n) => `t${n}`);
    await create(ada, 0, {
      name: 'long',
      global_criteria: { market: 'global', terms },
      sources: [{ source: 'hackernews', enabled: true }],
    });
    await create(ada, 1, { name: 'fits' });
    const lone = { criteria: { query: 'lone' }, refresh_interval_seconds: 60 };
    const watch = (await ada.api.post('/v1/hackernews/watches', lone)).body;
    await billing.changePlan(ada.accountId, 'free');
    await until('the watch is paused', async () => {
      const { isActive, pausedReason } = (await ada.api.get(`/v1/hackernews/watches/${watch.id}`)).body;
      return !isActive && pausedReason === 'plan';
    });
    expect(await states(ada)).toEqual([
      ['fast', 'paused', 'plan'],
      ['long', 'paused', 'plan'],
      ['fits', 'active', null],
    ]);
    const [, , fast] = (await ada.api.get('/v1/keywords')).body.data;
    expect(await ada.api.post(`/v1/keywords/${fast.id}/resume`, {})).toMatchObject({
      status: 400,
      body: { code: 'INTERVAL_TOO_LOW' },
    });
    // The keyword can run with a longer interval.
    const slow = await ada.api.patch(`/v1/keywords/${fast.id}`, { refreshIntervalSeconds: 3600 });
    expect(slow.body.state).toBe('paused');
    expect((await ada.api.post(`/v1/keywords/${fast.id}/resume`, {})).body.state).toBe('active');
  });

  it('subtracts the credits used in the period from the new allowance', async () => {
    const ada = await service.tenant('solo');
    await billing.spend(ada.accountId, 2000);
    await until(
      'the checks are charged',
      async () => (await ada.api.get('/v1/credits')).body.usedThisPeriod === 2000,
    );
    await billing.changePlan(ada.accountId, 'free');
    expect((await ada.api.get('/v1/credits')).body).toMatchObject({ plan: 'free', creditsRemaining: 1000 });
    await billing.changePlan(ada.accountId, 'solo');
    expect((await ada.api.get('/v1/credits')).body).toMatchObject({ plan: 'solo', creditsRemaining: 58_000 });
  });
});

describe('INTERVAL_FLOOR_SECONDS', () => {
  it('replaces every floor', async () => {
    const fast = await startInterface({ INTERVAL_FLOOR_SECONDS: '2' });
    try {
      const ada = await fast.tenant('free');
      const at = (seconds: number) =>
        ada.api.post('/v1/keywords/estimate', keywordBody({ refresh_interval_seconds: seconds }));
      expect((await at(2)).body.valid).toBe(true);
      expect((await at(1)).body.refusal.message).toContain('floor of 2 s');
      const { data } = (await ada.api.get('/v1/sources')).body;
      expect(new Set(data.map((source: Json) => source.intervalFloorSeconds))).toEqual(new Set([2]));
    } finally {
      await fast.stop();
    }
  });
});
