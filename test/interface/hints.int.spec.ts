import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { insertRows } from '#clickhouse';
import { newId } from '#kernel';
import { ApiClient } from '#testing';
import { checkDescribed } from './described.js';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';
import { keywordWarningTasks } from './keyword-warning-tasks.js';

let service: InterfaceUnderTest;
let ada: Tenant;
/** An account on an installation that allows no private addresses. */
let guarded: Tenant;
let guardedService: InterfaceUnderTest;

beforeAll(async () => {
  service = await startInterface({ SOURCE_VINTED_ENABLED: 'true' });
  ada = await service.tenant();
  guardedService = await startInterface({ EGRESS_ALLOW: '' });
  guarded = await guardedService.tenant();
});
afterAll(async () => {
  await service?.stop();
  await guardedService?.stop();
});

const detailsOf = async (body: object) => (await ada.api.post('/v1/keywords', body)).body.details;

describe('an invalid body', () => {
  const item = (field: string) => ({ kind: 'item', all: [{ field, op: 'eq', value: 'x' }] });

  it.each([
    [
      'mark without a label',
      { rules: [{ name: 'r', when: item('text'), then: [{ type: 'mark' }] }] },
      'rules[0].then[0].label',
      'is required for mark',
    ],
    [
      'a clause on ai.mood without an agent step',
      { rules: [{ name: 'r', when: item('ai.mood'), then: [{ type: 'stop' }] }] },
      'rules[0].when.all[0].field',
      'reads the agent step, but the keyword has none: add an aiStep',
    ],
    ['a blank name', { name: ' \t' }, 'name', 'must not be blank'],
    ['a name that cannot be seen', { name: '\u200b\u3164' }, 'name', 'must not be blank'],
    [
      'a term that cannot be seen',
      { global_criteria: { market: 'global', terms: ['lamp', '\u200b'] } },
      'global_criteria.terms[1]',
      'must not be blank',
    ],
    [
      'a query that cannot be seen',
      { global_criteria: { market: 'global', query: '\u200b' } },
      'global_criteria.query',
      'must have a visible character',
    ],
    [
      'page 0',
      { global_criteria: { market: 'global', query: 'a', page: 0 } },
      'global_criteria.page',
      'must be a positive number',
    ],
    [
      'a negative price',
      { global_criteria: { market: 'global', query: 'a', price_min: -1 } },
      'global_criteria.price_min',
      'must not be less than 0',
    ],
  ])('is refused: %s', async (_, more, path, message) => {
    expect(await detailsOf(keywordBody(more))).toEqual([{ path, message }]);
  });

  it('is refused for a clause on a field that the agent step does not define', async () => {
    const details = await detailsOf(
      keywordBody({
        ai_step: { instruction: 'Read it.', schema: { product: { type: 'string' } } },
        rules: [{ name: 'r', when: item('ai.mood'), then: [{ type: 'stop' }] }],
      }),
    );
    expect(details).toEqual([
      {
        path: 'rules[0].when.all[0].field',
        message: 'is not a field of the agent step; its fields are ai.product',
      },
    ]);
  });

  it('is refused if a PATCH removes the agent step and a rule still uses this step', async () => {
    const step = { instruction: 'Read it.', schema: { mood: { type: 'string' } } };
    const made = await ada.api.post(
      '/v1/keywords',
      keywordBody({ ai_step: step, rules: [{ name: 'r', when: item('ai.mood'), then: [{ type: 'stop' }] }] }),
    );
    const { status, body } = await ada.api.patch(`/v1/keywords/${made.body.id}`, { ai_step: null });
    expect([status, body.details[0].path]).toEqual([400, 'rules[0].when.all[0].field']);
  });

  it('is refused with MARKET_DISABLED and the list of markets if the source has markets', async () => {
    const { status, body } = await ada.api.post(
      '/v1/keywords',
      keywordBody({
        global_criteria: { market: 'narnia', query: 'a' },
        sources: [{ source: 'vinted', enabled: true }],
      }),
    );
    expect([status, body.code]).toEqual([400, 'MARKET_DISABLED']);
    expect(body.error).toMatch(
      /^global_criteria\.market: vinted has no market "narnia"; its markets are .*\bfr\b/,
    );
  });
});

describe('an installation without a language model', () => {
  const NEEDED = 'needs a language model, and this installation has none: set LLM_URL and LLM_MODEL';
  const step = { instruction: 'Which product?', schema: { product: { type: 'string' } } };
  let bare: ApiClient;

  beforeAll(async () => {
    bare = new ApiClient(await service.anotherGateway({ LLM_URL: '' }), ada.api.apiKey, checkDescribed);
  });

  it.each([
    ['an agent step', { ai_step: step }, [{ path: 'ai_step', message: NEEDED }]],
    [
      'custom buckets',
      { ai_enabled: true, ai_preset: 'custom' },
      [{ path: 'ai_preset', message: `"custom" ${NEEDED}` }],
    ],
  ])(
    'refuses %s at the create and in the estimate, and names the setting [readings.agent-no-model]',
    async (_, more, details) => {
      const { status, body } = await bare.post('/v1/keywords', keywordBody(more));
      expect([status, body.code, body.details]).toEqual([400, 'VALIDATION', details]);
      const { body: estimate } = await bare.post('/v1/keywords/estimate', keywordBody(more));
      expect([estimate.valid, estimate.refusal.status]).toEqual([false, 400]);
      expect(estimate.refusal.message).toContain('LLM_URL');
    },
  );

  it('refuses a watch with an agent step [readings.agent-no-model]', async () => {
    const watch = { criteria: { query: 'acme' }, refresh_interval_seconds: 600, ai: step };
    const { status, body } = await bare.post('/v1/hackernews/watches', watch);
    expect([status, body.details]).toEqual([400, [{ path: 'ai', message: NEEDED }]]);
  });

  it('warns about a keyword that needs the language model, but lets members read and change the keyword', async () => {
    const { body: made } = await ada.api.post(
      '/v1/keywords',
      keywordBody({
        name: 'Stepped',
        global_criteria: { market: 'global', query: 'stepped' },
        ai_step: step,
      }),
    );
    const { body: read } = await bare.get(`/v1/keywords/${made.id}`);
    expect(read.warnings).toEqual([{ path: 'aiStep', message: NEEDED }]);
    const changed = await bare.patch(`/v1/queries/${made.id}`, { ...read, name: 'Renamed' });
    expect([changed.status, changed.body.name]).toEqual([200, 'Renamed']);
    const other = await bare.patch(`/v1/queries/${made.id}`, { aiStep: { ...step, instruction: 'Another' } });
    expect([other.status, other.body.details[0].path]).toEqual([400, 'aiStep']);
    expect((await ada.api.get(`/v1/keywords/${made.id}`)).body).not.toHaveProperty('warnings');
  });
});

describe('a search on a private server', () => {
  const searchOn = (source: string, filters: object) =>
    keywordBody({
      global_criteria: { market: 'global', query: 'a', filters },
      sources: [{ source, enabled: true }],
    });

  it.each([
    ['rss', 'feed_urls', 'http://169.254.169.254/latest/meta-data', '169.254.169.254'],
    ['rss', 'feed_urls', 'http://2130706433/feed', '127.0.0.1'],
    ['rss', 'feed_urls', 'http://[::ffff:10.0.0.1]/feed', '::ffff:a00:1'],
    ['rss', 'feed_urls', 'https://localhost:8443/feed', 'localhost'],
  ])('is refused at the create: %s %s %s', async (source, key, address, host) => {
    const { status, body } = await guarded.api.post('/v1/keywords', searchOn(source, { [key]: [address] }));
    expect([status, body.details]).toEqual([
      400,
      [
        {
          path: `global_criteria.filters.${key}`,
          message: `${host} is a private or reserved address, which is reached only if EGRESS_ALLOW contains it`,
        },
      ],
    ]);
    const watch = await guarded.api.post(`/v1/${source}/watches`, {
      criteria: { query: 'a', filters: { [key]: [address] } },
      refresh_interval_seconds: 600,
    });
    expect([watch.status, watch.body.details[0].path]).toEqual([400, `criteria.filters.${key}`]);
  });
});

describe('a hint', () => {
  it.each([
    ['/v1/keyword', '/v1/keywords'],
    ['/keywords', '/v1/keywords'],
    ['/v1/keywords/', '/v1/keywords'],
    ['/v1/mention/x/why', '/v1/mentions/{id}/why'],
    ['/v1/keywords/x/activty', '/v1/keywords/{id}/activity'],
  ])('suggests a route for %s', async (path, meant) => {
    const { status, body } = await ada.api.get(path);
    expect([status, body]).toEqual([
      404,
      { error: `no such endpoint; did you mean ${meant}?`, code: 'NOT_FOUND' },
    ]);
  });

  it('is not given if no route is similar', async () => {
    for (const path of [
      '/v1/nothing-of-the-kind',
      '/docs/nothing',
      `/v1/${'k'.repeat(10_000)}`,
      '/favicon.ico',
    ])
      expect((await ada.api.get(path)).body.error).toBe('no such endpoint');
  });

  it('suggests the key of Earshot if the body has a key of other APIs', async () => {
    const body = { ...keywordBody(), interval: 60 };
    expect(await detailsOf(body)).toEqual([
      { path: 'interval', message: 'is not a known key; did you mean refresh_interval_seconds?' },
    ]);
    const { body: answer } = await ada.api.get('/v1/mentions?from=2026-01-01');
    expect(answer.error).toBe('from: is not a known parameter; did you mean since?');
  });

  it('explains how to give several values', async () => {
    const { body } = await ada.api.get('/v1/mentions?source=reddit,x');
    expect(body.error).toMatch(/; repeat the key for several values: source=reddit&source=x$/);
    const ids = [newId(), newId()];
    const { body: other } = await ada.api.get(`/v1/mentions?keyword=${ids.join(',')}`);
    expect(other.error).toBe(
      `keyword: must be the id of a keyword; repeat the key for several values: keyword=${ids[0]}&keyword=${ids[1]}`,
    );
  });
});

it('GET /v1/mentions finds an author in every spelling of the handle', async () => {
  const bob = await service.tenant();
  const row = mentionRow(bob.accountId, { author: 'Ada_L' });
  await insertRows(service.clickhouse, 'mentions', [row, mentionRow(bob.accountId, { author: 'ada_lo' })]);
  for (const author of ['Ada_L', 'ada_l', '@ADA_L', 'u/ada_l', '/u/Ada_L']) {
    const { body } = await bob.api.get(`/v1/mentions?author=${encodeURIComponent(author)}`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([row.event_id]);
  }
});

describe('compression', () => {
  const get = async (path: string, encoding: string) => {
    const answer = await request(`${service.url}${path}`, {
      headers: { 'x-api-key': ada.api.apiKey, 'accept-encoding': encoding },
    });
    return {
      encoding: answer.headers['content-encoding'],
      bytes: Buffer.from(await answer.body.arrayBuffer()),
    };
  };

  it('is gzip or br, as the caller accepts, without changing the content', async () => {
    const plain = (await get('/v1/openapi.json', 'identity')).bytes;
    const gzip = await get('/v1/openapi.json', 'gzip');
    const br = await get('/v1/openapi.json', 'gzip, br');
    expect([gzip.encoding, br.encoding]).toEqual(['gzip', 'br']);
    expect(gunzipSync(gzip.bytes).equals(plain)).toBe(true);
    expect(brotliDecompressSync(br.bytes).equals(plain)).toBe(true);
  });

  it('does not apply to answers under 1 KiB', async () => {
    expect((await get('/v1/keywords/x', 'gzip, br')).encoding).toBeUndefined();
  });

  it('does not change what is stored under an Idempotency-Key', async () => {
    const post = async (encoding: string) => {
      const answer = await request(`${service.url}/v1/keywords/estimate`, {
        method: 'POST',
        headers: {
          'x-api-key': ada.api.apiKey,
          'content-type': 'application/json',
          'idempotency-key': 'compressed',
          'accept-encoding': encoding,
        },
        body: JSON.stringify(keywordBody({ global_criteria: { market: 'global', query: 'q'.repeat(500) } })),
      });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      return answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString();
    };
    expect(await post('gzip')).toBe(await post('identity'));
  });
});

keywordWarningTasks(
  () => service,
  () => ada,
);
