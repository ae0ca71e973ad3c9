import { connect } from 'node:net';
import { request } from 'undici';
import { newId } from '#kernel';
import { openDatabase } from '#postgres';
import type { ApiAnswer } from '#testing';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
let service: InterfaceUnderTest;
let ada: Tenant;
let keywordId: string;
let watchId: string;

beforeAll(async () => {
  service = await startInterface({
    SOURCE_YOUTUBE_TOKEN: 't',
    SOURCE_X_TOKEN: 't',
    SOURCE_VINTED_ENABLED: 'true',
  });
  ada = await service.tenant();
  keywordId = (await ada.api.post('/v1/keywords', keywordBody())).body.id;
  const watchBody = { criteria: { query: 'lone' }, refresh_interval_seconds: 600 };
  watchId = (await ada.api.post('/v1/hackernews/watches', watchBody)).body.id;
});
afterAll(async () => {
  await service?.stop();
});

const details = (answer: ApiAnswer) => [answer.status, answer.body.code, answer.body.details];

/** Sends exactly these bytes, and reads until the other side closes. */
async function raw(bytes: string): Promise<string> {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.end(bytes);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

async function postBytes(path: string, contentType: string, body: string) {
  const answer = await request(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ada.api.apiKey, 'content-type': contentType },
    body,
  });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.json() };
}

describe('malformed requests', () => {
  it.each([
    ['nonsense', 'NONSENSE\r\n\r\n', 400],
    ['a header that is too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['an invalid address', 'GET /v1/keywords/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ])('%s gets a response in the error envelope', async (_, bytes, status) => {
    const answer = await raw(bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(/^x-request-id: (.*)$/im.exec(head)?.[1]).toMatch(UUID);
    const { error, code, details } = JSON.parse(body) as Record<string, unknown>;
    expect([code, details]).toEqual(['VALIDATION', [{ path: '', message: error }]]);
    expect(body).not.toMatch(/FST_|HPE_|Parse Error/);
  });

  it('a path with an id of 5,000 characters returns 404', async () => {
    const answer = await ada.api.get(`/v1/keywords/${'x'.repeat(5000)}`);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('malformed bodies', () => {
  it.each(['application/x-www-form-urlencoded', 'text/plain', 'text/csv', 'multipart/form-data; boundary=x'])(
    'a body of type %s returns 415 [requests.json-only]',
    async (contentType) => {
      const answer = await postBytes('/v1/keywords', contentType, 'name=x');
      const message = 'the body must be JSON (content-type: application/json)';
      expect([answer.status, answer.body]).toEqual([
        415,
        { error: message, code: 'VALIDATION', details: [{ path: '', message }] },
      ]);
      expect(answer.headers['x-request-id']).toMatch(UUID);
    },
  );

  it('unparsable JSON returns 400 with a fault of the whole body', async () => {
    const answer = await postBytes('/v1/keywords', 'application/json', '{"a":1,}');
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { code: 'VALIDATION', details: [{ path: '', message: expect.stringContaining('JSON') as string }] },
    ]);
  });
});

describe('faults of a body', () => {
  it('name missing keys in the spelling of the endpoint (snake_case) if the body is empty', async () => {
    expect(details(await ada.api.post('/v1/hackernews/watches', {}))).toEqual([
      400,
      'VALIDATION',
      [
        { path: 'criteria', message: 'is required' },
        { path: 'refresh_interval_seconds', message: 'is required' },
      ],
    ]);
  });

  it('are each reported only once', async () => {
    const criteria = { price_min: 5, price_max: 1, query: 'q' };
    const body = { criteria, market: 'fr', refresh_interval_seconds: 600 };
    expect(details(await ada.api.post('/v1/vinted/watches', body))).toEqual([
      400,
      'VALIDATION',
      [{ path: 'criteria.price_max', message: 'must not be below priceMin' }],
    ]);
    const typed = { criteria: { terms: 'q1' }, refresh_interval_seconds: 600 };
    expect(details(await ada.api.post('/v1/hackernews/watches', typed))).toEqual([
      400,
      'VALIDATION',
      [{ path: 'criteria.terms', message: 'must be an array' }],
    ]);
  });

  it('include a key that the body has in both spellings [requests.both-spellings]', async () => {
    const body = { criteria: { query: 'q' }, refresh_interval_seconds: 600, refreshIntervalSeconds: 600 };
    expect(details(await ada.api.post('/v1/hackernews/watches', body))).toEqual([
      400,
      'VALIDATION',
      [
        {
          path: 'refreshIntervalSeconds',
          message: 'is given twice: as refresh_interval_seconds and as refreshIntervalSeconds',
        },
      ],
    ]);
  });
});

describe('faults of a query', () => {
  it('include a time range that ends before it begins', async () => {
    const window = 'since=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z';
    for (const path of [
      '/v1/mentions',
      `/v1/keywords/${keywordId}/results`,
      `/v1/keywords/${keywordId}/answers`,
      `/v1/hackernews/watches/${watchId}/events`,
    ])
      expect([path, ...details(await ada.api.get(`${path}?${window}`))]).toEqual([
        path,
        400,
        'VALIDATION',
        [{ path: 'since', message: 'must not be later than until' }],
      ]);
    const prices = await ada.api.get('/v1/vinted/items/1/price-history?from=2026-02-02&to=2026-02-01');
    expect(details(prices)).toEqual([
      400,
      'VALIDATION',
      [{ path: 'from', message: 'must not be later than to' }],
    ]);
  });

  it('include an invalid keyword id', async () => {
    expect(details(await ada.api.get(`/v1/mentions?keyword=${newId()}&keyword=nope`))).toEqual([
      400,
      'VALIDATION',
      [{ path: 'keyword', message: 'must be the id of a keyword' }],
    ]);
  });

  it('include a cursor of another list, and a cursor that was changed [requests.cursor-bound]', async () => {
    for (const name of ['A', 'B', 'C'])
      await ada.api.post(
        '/v1/keywords',
        keywordBody({ name, global_criteria: { market: name, query: 'q' } }),
      );
    const cursor = (await ada.api.get('/v1/keywords?limit=1')).body.nextCursor as string;
    expect(cursor).toBeTruthy();
    const bytes = Buffer.from(cursor, 'base64url');
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
    const forged = [cursor, bytes.toString('base64url'), 'abc', '', cursor.slice(0, -4)];
    const lists = [
      '/v1/keywords?state=active',
      '/v1/hackernews/watches?limit=1',
      '/v1/mentions?limit=1',
      `/v1/keywords/${keywordId}/results?limit=1`,
      `/v1/keywords/${keywordId}/activity?limit=1`,
      `/v1/keywords/${keywordId}/answers?limit=1`,
      `/v1/hackernews/watches/${watchId}/events?limit=1`,
      '/v1/x/users/a/tweets?',
      '/v1/x/users/a/followers?',
      '/v1/x/users/a/following?',
      '/v1/youtube/videos/a/comments?',
    ];
    for (const list of lists)
      for (const given of forged) {
        const answer = await ada.api.get(`${list}&cursor=${encodeURIComponent(given)}`.replace('?&', '?'));
        expect([list, given, answer.status, answer.body.code, answer.body.details?.[0].path]).toEqual([
          list,
          given,
          400,
          'VALIDATION',
          'cursor',
        ]);
      }
    const bob = await service.tenant();
    expect((await bob.api.get(`/v1/keywords?limit=1&cursor=${cursor}`)).status).toBe(400);
    expect((await ada.api.get(`/v1/keywords?limit=1&cursor=${cursor}`)).status).toBe(200);
  });
});

describe('errors that the caller did not cause', () => {
  it('return 503 while a service does not run [errors.upstream]', async () => {
    const answer = await ada.api.get('/v1/youtube/videos/abc/comments');
    expect([answer.status, answer.body.code]).toEqual([503, 'UNAVAILABLE']);
    expect(answer.headers['x-request-id']).toMatch(UUID);
  });

  it('return 500 without details, with the id of the request [errors.internal, requests.nothing-leaks]', async () => {
    const database = await openDatabase(service.stores.databaseUrl, 'spec');
    await database.query('ALTER TABLE keywords RENAME TO keywords_away');
    try {
      const answer = await ada.api.get('/v1/keywords');
      expect([answer.status, answer.body]).toEqual([500, { error: 'internal error', code: 'INTERNAL' }]);
      expect(answer.headers['x-request-id']).toMatch(UUID);
    } finally {
      await database.query('ALTER TABLE keywords_away RENAME TO keywords');
      await database.destroy();
    }
  });
});
