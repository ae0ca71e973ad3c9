import { insertRows } from '#clickhouse';
import { ApiClient, until, type ApiAnswer, type Json } from '#testing';
import { connectBilling, type BillingUnderTest } from './billing-under-test.js';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';

let service: InterfaceUnderTest;
let billing: BillingUnderTest;
let ada: Tenant;
let keyword: Json;
let watch: Json;

beforeAll(async () => {
  service = await startInterface();
  billing = await connectBilling(service.stores.natsUrl);
  ada = await service.tenant('pro');
  const body = keywordBody({
    refresh_interval_seconds: 3600,
    sources: [{ source: 'hackernews', enabled: true, searches: [{ label: 'one' }] }],
    global_criteria: { market: 'global', query: 'acme', filters: { Kept_Key: 1 } },
    schedule: { starts_at: '2026-01-01T02:00:00+02:00', ends_at: null, timezone: 'Europe/Berlin' },
  });
  keyword = (await ada.api.post('/v1/keywords', body)).body;
  const lone = { criteria: { query: 'lone' }, refresh_interval_seconds: 3600 };
  watch = (await ada.api.post('/v1/hackernews/watches', lone)).body;
  const rows = Array.from({ length: 201 }, () =>
    mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: watch.id }),
  );
  await insertRows(service.clickhouse, 'mentions', rows);
  await billing.spend(ada.accountId, 7);
  await billing.grant(ada.accountId, 5, '2099-01-01T00:00:00+01:00');
  await until(
    'the check is charged',
    async () => (await ada.api.get('/v1/credits')).body.usedThisPeriod === 7,
  );
});
afterAll(async () => {
  await billing?.stop();
  await service?.stop();
});

/** Returns responses of thirteen routes. */
async function answers(): Promise<ApiAnswer[]> {
  const paths = [
    '/v1/keywords',
    `/v1/keywords/${keyword.id}`,
    `/v1/keywords/${keyword.id}/activity`,
    `/v1/keywords/${keyword.id}/results?limit=2`,
    `/v1/keywords/${keyword.id}/quote`,
    '/v1/hackernews/watches',
    `/v1/hackernews/watches/${watch.id}`,
    `/v1/hackernews/watches/${watch.id}/events`,
    '/v1/mentions?limit=2',
    '/v1/credits',
    '/v1/credits/ledger',
    '/v1/sources',
  ];
  const read = await Promise.all(paths.map((path) => ada.api.get(path)));
  for (const [n, { status }] of read.entries()) expect([paths[n], status]).toEqual([paths[n], 200]);
  return [
    ...read,
    await ada.api.post('/v1/keywords/estimate', keywordBody({ refresh_interval_seconds: 3600 })),
  ];
}

/** Returns every key of a response with its value, except the keys inside `filters`, which the user chooses. */
function* entriesOf(value: Json): Generator<[key: string, value: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [key, inner];
    if (key !== 'filters') yield* entriesOf(inner);
  }
}

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('answers', () => {
  it('have camelCase keys, except `credits_used` and the names of sources and operations [requests.camel-responses]', async () => {
    // Names of sources and operations are keys in some responses.
    const named = new Set(['credits_used', 'hackernews', 'check', 'ai_answers']);
    for (const { body } of await answers())
      for (const [key] of entriesOf(body)) if (!named.has(key)) expect(key).toMatch(/^[a-z][a-zA-Z0-9]*$/);
  });

  it('contain times in UTC with milliseconds and Z [requests.timestamps]', async () => {
    let seen = 0;
    for (const { body } of await answers())
      for (const [key, value] of entriesOf(body)) {
        if (!/(At|since|until|period(Start|End))$/.test(key) || value === null) continue;
        // The times of a schedule are returned in the user's own form.
        if (key === 'startsAt' || key === 'endsAt') continue;
        expect({ [key]: value }).toEqual({ [key]: expect.stringMatching(INSTANT) });
        seen += 1;
      }
    expect(seen).toBeGreaterThan(20);
  });

  it('convert times with any offset to UTC [requests.offsets]', async () => {
    const { body } = await ada.api.get('/v1/mentions?since=2026-03-04T05:06:07%2B05:30');
    expect(body.since).toBe('2026-03-03T23:36:07.000Z');
    const [pack] = (await ada.api.get('/v1/credits')).body.packs;
    expect(pack.expiresAt).toBe('2098-12-31T23:00:00.000Z');
  });

  it('identify created objects by ids of version 7 [requests.made-ids]', () => {
    const [search] = keyword.sources[0].searches;
    for (const id of [ada.accountId, keyword.id, search.id, keyword.watches[0].id, watch.id])
      expect(id).toMatch(V7);
  });

  it('identify a fact by an id derived from its content, so that the fact appears only once [requests.fact-ids]', async () => {
    const one = await billing.spend(ada.accountId, 1);
    const { accountId } = ada;
    await billing.spend(accountId, 1, { checkId: one, part: 1 });
    await until(
      'the check is charged',
      async () => (await ada.api.get('/v1/credits')).body.usedThisPeriod >= 8,
    );
    const charges = (await ada.api.all('/v1/credits/ledger')).filter(({ checkId }) => checkId === one);
    expect(charges).toHaveLength(1);
    expect(charges[0].id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
  });
});

describe('every response', () => {
  const everyKind = (): Promise<ApiAnswer>[] => [
    ada.api.get('/v1/keywords'),
    ada.api.post('/v1/hackernews/watches', {}),
    ada.api.post('/v1/keywords', '{'),
    ada.api.post('/v1/keywords', JSON.stringify({ name: 'x'.repeat(1024 * 1024) })),
    ada.api.get('/v1/keywords/none'),
    ada.api.get('/v1/nothing'),
    ada.api.delete(`/v1/keywords/${watch.id}`),
    ada.api.get('/v1/youtube/videos/abc/comments'),
  ];

  it('has a request id [errors.request-id]', async () => {
    const withWrongKey = new ApiClient(service.url, 'none');
    const all = await Promise.all([
      ...everyKind(),
      withWrongKey.get('/v1/keywords'),
      withWrongKey.get('/v1/openapi.json'),
    ]);
    for (const { status, headers } of all)
      expect([status, headers['x-request-id']]).toEqual([status, expect.stringMatching(V7)]);
  });

  it('reports the remaining requests of the minute', async () => {
    for (const { status, headers } of await Promise.all(everyKind())) {
      const left = headers['ratelimit-remaining'];
      const reset = headers['ratelimit-reset'];
      expect([status, headers]).toEqual([
        status,
        expect.objectContaining({
          'ratelimit-policy': '"default";q=1200;w=60',
          ratelimit: `"default";r=${left};t=${reset}`,
          'ratelimit-limit': '1200',
        }),
      ]);
      expect([Number(left) >= 0 && Number(left) < 1200, Number(reset) > 0 && Number(reset) <= 60]).toEqual([
        true,
        true,
      ]);
    }
  });

  it('contains the message and the code of the error if the request fails [errors.envelope, errors.not-found]', async () => {
    const { status, body } = await ada.api.get(`/v1/keywords/${watch.id}`);
    expect([status, body]).toEqual([404, { error: 'keyword not found', code: 'NOT_FOUND' }]);
  });
});

describe('a list', () => {
  it('has 50 elements by default, and 1 to 200 on request [requests.limit]', async () => {
    const count = async (query: string) => (await ada.api.get(`/v1/mentions?${query}`)).body.data.length;
    expect([await count(''), await count('limit=1'), await count('limit=200')]).toEqual([50, 1, 200]);
    for (const limit of ['0', '201', '1.5', 'many', '-1', ''])
      expect((await ada.api.get(`/v1/mentions?limit=${limit}`)).body).toMatchObject({
        code: 'VALIDATION',
        details: [{ path: 'limit' }],
      });
  });
});

describe('the two paths of a keyword’s routes', () => {
  it('return the same answers [requests.two-names, keywords.results]', async () => {
    for (const path of ['', '/activity', '/results?limit=3', '/quote']) {
      const [one, other] = await Promise.all(
        ['keywords', 'queries'].map((name) => ada.api.get(`/v1/${name}/${keyword.id}${path}`)),
      );
      const withoutTimes = (answer?: ApiAnswer) => ({
        ...answer?.body,
        since: null,
        until: null,
        nextCursor: null,
      });
      expect([path, one?.status, withoutTimes(one)]).toEqual([path, 200, withoutTimes(other)]);
    }
    const [keywords, queries] = await Promise.all(
      ['keywords', 'queries'].map((name) => ada.api.get(`/v1/${name}`)),
    );
    expect(keywords?.body).toEqual(queries?.body);
    for (const name of ['keywords', 'queries']) {
      const send = (verb: string) => ada.api.post(`/v1/${name}/${keyword.id}/${verb}`, {});
      expect([(await send('pause')).body.state, (await send('resume')).body.state]).toEqual([
        'paused',
        'active',
      ]);
      const named = await ada.api.patch(`/v1/${name}/${keyword.id}`, { name });
      expect([named.status, named.body.name]).toEqual([200, name]);
      const body = {
        name: 'Gone',
        refreshIntervalSeconds: 3600,
        globalCriteria: { market: 'global', query: name },
        sources: [{ source: 'hackernews', enabled: true }],
      };
      expect((await ada.api.post(`/v1/${name}/estimate`, body)).body.valid).toBe(true);
      const made = await ada.api.post(`/v1/${name}`, body);
      expect(made.status).toBe(201);
      expect((await ada.api.delete(`/v1/${name}/${made.body.id}?purge=true`)).status).toBe(204);
    }
  });
});
