import { SOURCE_IDS } from '#contracts';
import { openDatabase, type Database } from '#postgres';
import { keywordBody, startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;
let database: Database;

beforeAll(async () => {
  service = await startInterface({
    SOURCE_X_TOKEN: 'token',
    SOURCE_GITHUB_ENABLED: 'false',
    SOURCE_VINTED_ENABLED: 'true',
  });
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await service?.stop();
});

interface Source {
  id: string;
  configured: boolean;
  enabled: boolean;
  healthy: boolean;
  reason: string | null;
  missingSettings: string[];
  lastSuccessAt: string | null;
  intervalFloorSeconds: number;
  creditsPerCheck: number;
  firehose: boolean;
}

async function sourcesFor(plan?: string): Promise<Map<string, Source>> {
  const { api } = await service.tenant(plan);
  const { status, body } = await api.get('/v1/sources');
  expect(status).toBe(200);
  return new Map(body.data.map((source: Source) => [source.id, source]));
}

describe('the sources of an installation', () => {
  it('are all listed, with their requirements, costs and features', async () => {
    const sources = await sourcesFor('solo');
    expect([...sources.keys()]).toEqual([...SOURCE_IDS]);
    expect(sources.get('hackernews')).toEqual({
      id: 'hackernews',
      configured: true,
      enabled: true,
      healthy: true,
      reason: null,
      missingSettings: [],
      lastSuccessAt: null,
      intervalFloorSeconds: 600,
      creditsPerCheck: 1,
      firehose: true,
    });
    expect(sources.get('x')).toMatchObject({
      configured: true,
      intervalFloorSeconds: 1800,
      creditsPerCheck: 5,
    });
    expect(sources.get('reddit')).toMatchObject({
      configured: false,
      healthy: false,
      missingSettings: ['SOURCE_REDDIT_CLIENT_ID', 'SOURCE_REDDIT_CLIENT_SECRET'],
      creditsPerCheck: 2,
    });
    expect(sources.get('ai_answers')?.reason).toContain(
      'AI_OPENAI_TOKEN or AI_ANTHROPIC_TOKEN or AI_PERPLEXITY_TOKEN or AI_GEMINI_TOKEN',
    );
    expect(sources.get('github')).toMatchObject({ enabled: false, healthy: false });
    expect(sources.get('vinted')).toMatchObject({ enabled: true, intervalFloorSeconds: 600 });
    expect((await sourcesFor('free')).get('ai_answers')?.intervalFloorSeconds).toBe(86_400);
  });

  it('are unhealthy, with the reason, only while a lane with their searches is unhealthy', async () => {
    await database.query(
      `INSERT INTO lanes (lane, source, trouble, last_success_at) VALUES
         ('x:0', 'x', '', '2026-03-04T12:00:00Z'), ('x:1', 'x', 'x answered 503', '2026-03-04T11:00:00Z')
       ON CONFLICT (lane) DO UPDATE SET trouble = excluded.trouble, last_success_at = excluded.last_success_at`,
    );
    // No search runs on the lane x:1, so its fault is out of date.
    expect((await sourcesFor()).get('x')).toMatchObject({ healthy: true, reason: null });
    await database.query(
      `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
       VALUES ('x:spec', 'x', 'x:1', '{}', now() + interval '1 hour')`,
    );
    expect((await sourcesFor()).get('x')).toMatchObject({
      healthy: false,
      reason: 'x answered 503',
      lastSuccessAt: '2026-03-04T12:00:00.000Z',
    });
    await database.query(`UPDATE lanes SET trouble = '' WHERE source = 'x'`);
    expect((await sourcesFor()).get('x')).toMatchObject({ healthy: true, reason: null });
  });
});

describe('a request for a source that is not available', () => {
  it.each([
    ['reddit', 'SOURCE_REDDIT_CLIENT_ID'],
    ['tiktok', 'SOURCE_TIKTOK_CLIENT_ID'],
    [
      'producthunt',
      'SOURCE_PRODUCTHUNT_TOKEN, or SOURCE_PRODUCTHUNT_CLIENT_ID and SOURCE_PRODUCTHUNT_CLIENT_SECRET',
    ],
    ['github', 'SOURCE_GITHUB_ENABLED'],
  ])('returns 400 for a search on %s and names %s', async (source, setting) => {
    const { api } = await service.tenant();
    const made = await api.post('/v1/keywords', keywordBody({ sources: [{ source, enabled: true }] }));
    expect([made.status, made.body.code, made.body.details[0].path]).toEqual([
      400,
      'VALIDATION',
      'sources[0].source',
    ]);
    expect(made.body.error).toContain(setting);
  });

  it('returns 400 and names the setting for a lookup', async () => {
    const { api } = await service.tenant();
    const answer = await api.get('/v1/youtube/videos/abc/comments');
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION']);
    expect(answer.body.error).toContain('SOURCE_YOUTUBE_TOKEN');
  });
});

describe('a search that a source cannot serve', () => {
  it('returns 400 MARKET_DISABLED if the source does not have the market [errors.market, requests.market-disabled]', async () => {
    const { api } = await service.tenant();
    const body = { criteria: { query: 'lamp' }, market: 'jp', refresh_interval_seconds: 600 };
    const made = await api.post('/v1/vinted/watches', body);
    expect([made.status, made.body.code]).toEqual([400, 'MARKET_DISABLED']);
    expect(made.body.error).toContain('its markets are');
    expect((await api.post('/v1/vinted/watches', { ...body, market: 'fr' })).status).toBe(201);
    const both = { ...body, market: 'fr', criteria: { query: 'lamp', market: 'de' } };
    const refused = await api.post('/v1/vinted/watches', both);
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'market']);
  });

  it.each([
    [{ brand_ids: '53,12' }, 201],
    [{ brand_ids: [53, 12] }, 201],
    [{ brand_ids: true }, 400],
    [{ size_ids: { a: 1 } }, 400],
    [{ catalog_ids: ['x'] }, 400],
    [{ color_ids: '1,two' }, 400],
    [{ status_ids: [1.5] }, 400],
  ])(
    'returns 400 with the name of a filter whose value is wrong, and otherwise 201: %j [errors.vinted-filters]',
    async (filters, status) => {
      const { api } = await service.tenant();
      const criteria = { query: 'lamp', filters };
      const made = await api.post('/v1/vinted/watches', {
        criteria,
        market: 'fr',
        refresh_interval_seconds: 600,
      });
      expect(made.status).toBe(status);
      if (status === 400) expect(made.body.details[0].path).toContain(`filters.${Object.keys(filters)[0]}`);
    },
  );
});
