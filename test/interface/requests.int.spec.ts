import { request } from 'undici';
import { create } from '@bufbuild/protobuf';
import { CreateKeySchema, RevokeKeySchema } from '#contracts';
import { insertRows } from '#clickhouse';
import { newId } from '#kernel';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { ApiClient, until } from '#testing';
import { CommandClient } from '#transport';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;
let bob: Tenant;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant();
  bob = await service.tenant();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await service?.stop();
});

async function keyOf(tenant: Tenant, scope: string, expiresAt = '') {
  const command = create(CreateKeySchema, {
    commandId: newId(),
    accountId: tenant.accountId,
    name: 'k',
    scope,
    expiresAt,
  });
  return new CommandClient(bus).request(COMMANDS.createKey, command);
}

/** Sends exactly these headers and this body, without the defaults of `ApiClient`. */
async function send(method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: string) {
  const answer = await request(`${service.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: (text ? JSON.parse(text) : undefined) as unknown,
  };
}

describe('authentication and scopes', () => {
  it.each([
    [{}, 'the header x-api-key is missing'],
    [{ 'x-api-key': '' }, 'the API key is not valid'],
    [{ 'x-api-key': 'nonsense' }, 'the API key is not valid'],
    [{ 'x-api-key': `ek_${'0'.repeat(43)}` }, 'the API key is not valid'],
  ])(
    'a request with the headers %j returns 401 [auth.key, errors.key, requests.unauthorized]',
    async (headers, error) => {
      const answer = await send('GET', '/v1/keywords', headers);
      expect([answer.status, answer.body]).toEqual([401, { error, code: 'UNAUTHORIZED' }]);
      expect(answer.headers['x-request-id']).toBeTruthy();
    },
  );

  it('an API key with the scope `read` can read, and gets 403 for a write [requests.forbidden]', async () => {
    const reader = new ApiClient(service.url, (await keyOf(ada, 'read')).apiKey);
    expect((await reader.get('/v1/keywords')).status).toBe(200);
    const refused = await reader.post('/v1/keywords', keywordBody());
    expect([refused.status, refused.body]).toEqual([
      403,
      { error: 'this API key may only read', code: 'FORBIDDEN' },
    ]);
  });

  it('an API key is valid until it expires', async () => {
    const key = await keyOf(ada, 'read', new Date(Date.now() + 1500).toISOString());
    const client = new ApiClient(service.url, key.apiKey);
    expect((await client.get('/v1/keywords')).status).toBe(200);
    await until('the key has expired', async () => (await client.get('/v1/keywords')).status === 401);
  });

  it('a revoked API key is refused within seconds', async () => {
    const key = await keyOf(ada, 'read');
    const client = new ApiClient(service.url, key.apiKey);
    expect((await client.get('/v1/keywords')).status).toBe(200);
    await new CommandClient(bus).request(
      COMMANDS.revokeKey,
      create(RevokeKeySchema, { commandId: newId(), accountId: ada.accountId, keyId: key.keyId }),
    );
    await until('the key is refused', async () => (await client.get('/v1/keywords')).status === 401, 8000);
  });
});

describe('a route with an id', () => {
  it('returns 404 for a resource of another account [errors.not-found, keywords.read]', async () => {
    const keyword = (await ada.api.post('/v1/keywords', keywordBody())).body;
    const watchBody = { criteria: { query: 'lone' }, refresh_interval_seconds: 600 };
    const watch = (await ada.api.post('/v1/hackernews/watches', watchBody)).body;
    const row = mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: watch.id });
    await insertRows(service.clickhouse, 'mentions', [row]);
    const mention = row.event_id;
    expect((await ada.api.get(`/v1/mentions/${mention}`)).status).toBe(200);

    const calls: [method: 'GET' | 'PATCH' | 'DELETE', path: string, body?: unknown][] = [
      ...['keywords', 'queries'].flatMap((name): [method: 'GET' | 'DELETE', path: string][] => [
        ['GET', `/v1/${name}/${keyword.id}`],
        ['GET', `/v1/${name}/${keyword.id}/activity`],
        ['GET', `/v1/${name}/${keyword.id}/results`],
        ['DELETE', `/v1/${name}/${keyword.id}`],
        ['DELETE', `/v1/${name}/${keyword.id}?purge=true`],
      ]),
      ['GET', `/v1/hackernews/watches/${watch.id}`],
      ['GET', `/v1/hackernews/watches/${watch.id}/events`],
      ['PATCH', `/v1/hackernews/watches/${watch.id}`, { is_active: false }],
      ['DELETE', `/v1/hackernews/watches/${watch.id}`],
      ['GET', `/v1/mentions/${mention}`],
      ['GET', `/v1/mentions/${mention}/why`],
    ];
    for (const [method, path, body] of calls) {
      const answer = await bob.api.call(method, path, body);
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, 'NOT_FOUND']);
    }
    expect((await bob.api.get('/v1/keywords')).body.data).toEqual([]);
    expect((await bob.api.get('/v1/hackernews/watches')).body.watches).toEqual([]);
    expect((await bob.api.get(`/v1/mentions?keyword=${keyword.id}`)).body.data).toEqual([]);
    expect((await ada.api.get(`/v1/keywords/${keyword.id}`)).body.state).toBe('active');
    expect((await ada.api.get(`/v1/hackernews/watches/${watch.id}`)).body.isActive).toBe(true);
  });

  it('returns 404 for an invalid id', async () => {
    for (const path of [
      'keywords/x',
      'keywords/x/results',
      'keywords/x/activity',
      'mentions/x',
      'mentions/x/why',
      'rss/watches/x',
      'rss/watches/x/events',
      'nosource/watches',
    ])
      expect([path, (await ada.api.get(`/v1/${path}`)).status]).toEqual([path, 404]);
  });
});

describe('the limits of a request', () => {
  const key = () => ({ 'x-api-key': ada.api.apiKey, 'content-type': 'application/json' });

  it.each(['{', '{"a":1,}', '', 'null', '"text"', '[]', '{"a":1}{"b":2}'])(
    'the body %j returns 400 [errors.validation]',
    async (body) => {
      const answer = await send('POST', '/v1/keywords', key(), body);
      expect([answer.status, answer.body]).toMatchObject([400, { code: 'VALIDATION' }]);
    },
  );

  it('a body above 1 MiB returns 413 [requests.body-limit]', async () => {
    const answer = await send(
      'POST',
      '/v1/keywords',
      key(),
      JSON.stringify({ name: 'x'.repeat(1024 * 1024) }),
    );
    expect([answer.status, answer.body]).toEqual([
      413,
      { error: 'the body is larger than 1 MiB (a form: 4 KiB)', code: 'PAYLOAD_TOO_LARGE' },
    ]);
  });

  it('a body whose content type is not JSON returns 415 [requests.json-only]', async () => {
    const answer = await send('POST', '/v1/keywords', { ...key(), 'content-type': 'text/csv' }, 'a,b');
    expect([answer.status, answer.body]).toMatchObject([415, { code: 'VALIDATION' }]);
  });

  it('a key __proto__ is kept in `filters`, but is an unknown key at the top of the body [requests.user-data]', async () => {
    const filters = '{"__proto__":{"a_b":1},"constructor":{"prototype":2}}';
    const made = await send(
      'POST',
      '/v1/keywords',
      key(),
      JSON.stringify(keywordBody({ global_criteria: { market: 'proto', query: 'p', filters: 0 } })).replace(
        '"filters":0',
        `"filters":${filters}`,
      ),
    );
    expect(made.status).toBe(201);
    expect(
      JSON.stringify((made.body as { globalCriteria: { filters: unknown } }).globalCriteria.filters),
    ).toBe(filters);
    const refused = await send('POST', '/v1/keywords', key(), '{"__proto__":{"name":"x"}}');
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { details: [{ path: '__proto__', message: 'is not a known key' }] },
    ]);
  });

  it.each([
    '/v1/keywords?limt=1',
    '/v1/mentions?colour=red',
    '/v1/hackernews/watches?x=1',
    '/v1/mentions?limit=0',
    '/v1/mentions?limit=201',
    '/v1/mentions?order=up',
    '/v1/mentions?since=yesterday',
    '/v1/keywords?state=gone',
    '/v1/keywords?cursor=abc',
    '/v1/mentions?cursor=abc',
    '/v1/mentions/series?mode=semantic',
    '/v1/mentions/export?mode=semantic&q=a',
    `/v1/mentions?q=${'x'.repeat(201)}`,
  ])('GET %s returns 400 with the name of the parameter [requests.unknown-key]', async (path) => {
    const answer = await ada.api.get(path);
    const name = /\?(\w+)=/.exec(path)?.[1];
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, 'VALIDATION', name]);
  });

  it('a parameter, a key or a body that the route does not read returns 400 with the reason [requests.unknown-key]', async () => {
    const { id } = (await ada.api.post('/v1/keywords', keywordBody({ name: 'Whole' }))).body;
    for (const [method, path, body, message] of [
      ['GET', `/v1/keywords/${id}?x=1`, undefined, 'x: is not a known parameter'],
      ['GET', '/v1/sources?x=1', undefined, 'x: is not a known parameter'],
      ['POST', '/v1/keywords/estimate?x=1', keywordBody(), 'x: is not a known parameter'],
      ['PATCH', `/v1/keywords/${id}?x=1`, { name: 'Y' }, 'x: is not a known parameter'],
      ['POST', `/v1/keywords/${id}/pause`, { x: 'tired' }, 'x: is not a known key'],
      ['POST', `/v1/keywords/${id}/pause`, [1], 'this route takes no body'],
    ] as const) {
      const answer = await ada.api.call(method, path, body);
      expect([path, answer.status, answer.body.error]).toEqual([path, 400, message]);
    }
    expect((await ada.api.post(`/v1/keywords/${id}/pause`, {})).status).toBe(200);
  });

  it('a number outside the range of JavaScript returns 400 with its path, even with an Idempotency-Key', async () => {
    const body = JSON.stringify(keywordBody({ global_criteria: { market: 'm', query: 'q', filters: 0 } }));
    for (const more of [{}, { 'idempotency-key': newId() }] as Record<string, string>[]) {
      const sent = body.replace('"filters":0', '"filters":{"deep":[1e400]}');
      const answer = await send('POST', '/v1/keywords', { ...key(), ...more }, sent);
      expect([answer.status, answer.body]).toMatchObject([
        400,
        { details: [{ path: 'global_criteria.filters.deep[0]', message: 'is a number that is too large' }] },
      ]);
    }
  });

  it('a method that a path does not have returns 405 with the methods of the path', async () => {
    const { id } = (await ada.api.get('/v1/keywords')).body.data[0];
    for (const [method, path, allow] of [
      ['PUT', `/v1/keywords/${id}`, 'GET, PATCH, DELETE'],
      ['PATCH', '/v1/keywords?limit=1', 'POST, GET'],
      ['GET', `/v1/queries/${id}/pause`, 'POST'],
      ['PUT', '/v1/mentions/series', 'GET, PATCH'],
    ] as const) {
      const answer = await request(`${service.url}${path}`, { method, headers: key() });
      expect([answer.statusCode, answer.headers.allow, await answer.body.json()]).toEqual([
        405,
        allow,
        { error: `${method} is not allowed here; allowed: ${allow}`, code: 'METHOD_NOT_ALLOWED' },
      ]);
    }
  });

  it.each(['0001-01-01T00:00:00Z', '1850-01-01T00:00:00Z', '2999-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
    'a time as distant as %s is accepted',
    async (instant) => {
      const id = (await ada.api.get('/v1/keywords')).body.data[0].id;
      for (const path of ['/v1/mentions', `/v1/keywords/${id}/activity`, `/v1/keywords/${id}/results`])
        expect([path, (await ada.api.get(`${path}?since=${instant}`)).status]).toEqual([path, 200]);
      expect((await ada.api.get(`/v1/mentions?until=${instant}`)).status).toBe(200);
    },
  );

  it('an unknown endpoint returns 404 in the error envelope [errors.envelope]', async () => {
    const answer = await ada.api.get('/v1/nothing');
    expect([answer.status, answer.body]).toEqual([404, { error: 'no such endpoint', code: 'NOT_FOUND' }]);
    expect(answer.headers['x-request-id']).toBeTruthy();
  });
});

describe('the request id', () => {
  const ask = async (given?: string) => {
    const headers = {
      'x-api-key': ada.api.apiKey,
      ...(given === undefined ? {} : { 'x-request-id': given }),
    };
    return (await send('GET', '/v1/keywords', headers)).headers['x-request-id'];
  };

  it.each(['a', 'x'.repeat(128), '!~-_/"'])(
    'is the id %j that the sender has sent [requests.id-kept]',
    async (given) => {
      expect(await ask(given)).toBe(given);
    },
  );

  it.each([undefined, 'x'.repeat(129), 'with space', 'ünïcode'])(
    'is a new id if the sender has sent %j [requests.id-kept]',
    async (given) => {
      const id = await ask(given === undefined ? undefined : Buffer.from(given).toString('latin1'));
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    },
  );
});
