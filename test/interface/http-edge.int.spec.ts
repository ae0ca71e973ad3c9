import { connect, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { create } from '@bufbuild/protobuf';
import { request } from 'undici';
import { readSettings } from '#config';
import { RanAnalysisSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { newApiKey } from '#secrets';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { NatsStrategy } from '#transport';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

const TOKEN = 'a-token-of-the-operator';
const MAX_CONNECTIONS = 30;

let service: InterfaceUnderTest;
let publicService: InterfaceUnderTest;
let tenant: Tenant;
let database: Database;

beforeAll(async () => {
  service = await startInterface({
    HTTP_HEADERS_TIMEOUT_MS: '300',
    HTTP_REQUEST_TIMEOUT_MS: '900',
    MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    OPERATIONS_TOKEN: TOKEN,
    TRUST_PROXY: '127.0.0.1',
  });
  publicService = await startInterface({ HOST: '0.0.0.0' });
  tenant = await service.tenant();
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await service?.stop();
  await publicService?.stop();
});

/** Opens a connection and sends exactly these bytes. */
async function send(text: string): Promise<{ socket: Socket; all: Promise<string> }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
  // A refused connection is reset.
  socket.on('error', () => undefined);
  const all = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await once(socket, 'connect');
  socket.write(text);
  return { socket, all };
}

const randomOf = (bytes: number) => randomBytes(bytes).toString('base64url');

async function get(path: string, headers: Record<string, string> = {}, url = service.url) {
  const answer = await request(`${url}${path}`, { headers });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

describe('a slow request', () => {
  it('can take 10 s for its headers and 30 s in total by default', () => {
    const settings = readSettings(['HTTP_HEADERS_TIMEOUT_MS', 'HTTP_REQUEST_TIMEOUT_MS'], {});
    expect({ ...settings }).toEqual({ HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_REQUEST_TIMEOUT_MS: 30_000 });
  });

  it('gets 408 and is closed if its headers do not arrive in time', async () => {
    const { all } = await send('GET /v1/keywords HTTP/1.1\r\nhost: x\r\n');
    expect(await all).toMatch(/^HTTP\/1\.1 408 [\s\S]*"the request did not arrive in time"/);
  });

  it('gets 408 and is closed if its body does not arrive in time', async () => {
    const { all } = await send(
      `POST /v1/keywords HTTP/1.1\r\nhost: x\r\nx-api-key: ${tenant.api.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('gets 503, and counts as 503, if a store does not answer before the connection times out', async () => {
    const counted = async () => {
      const { body } = await get('/metrics', { authorization: `Bearer ${TOKEN}` });
      const count =
        /^earshot_http_request_duration_seconds_count\{.*route="\/v1\/keywords".*status="503".*\} (\d+)/m;
      return Number(count.exec(body)?.[1] ?? 0);
    };
    const before = await counted();
    await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE keywords IN ACCESS EXCLUSIVE MODE');
      const { status, body } = await tenant.api.get('/v1/keywords');
      expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
    });
    expect((await tenant.api.get('/v1/keywords')).status).toBe(200);
    expect(await counted()).toBe(before + 1);
  });

  it('gets its response even if an analysis takes longer than other requests can', async () => {
    const log = createLogger('spec', 'silent');
    const bus = await connectBus(service.stores.natsUrl, 'spec', log);
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const begun = new Promise<void>((resolve) =>
      new NatsStrategy(bus, log).serve(COMMANDS.runAnalysis, async () => {
        resolve();
        await ended;
        return create(RanAnalysisSchema, { bodyJson: '{"labels":[],"errors":[]}' });
      }),
    );
    const body = { operation: 'classify', mention_ids: [newId()], classes: ['a', 'b'] };
    const analysis = tenant.api.post('/v1/analyses', body);
    await begun;
    await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE keywords IN ACCESS EXCLUSIVE MODE');
      expect((await tenant.api.get('/v1/keywords')).status).toBe(503);
    });
    end();
    expect((await analysis).status).toBe(200);
    await bus.close();
  });

  it('gets 503 even if the audit log cannot be written, and a repetition of the request gets the outcome', async () => {
    const headers = { 'idempotency-key': newId() };
    const post = () => tenant.api.post('/v1/keywords', keywordBody({ name: 'Late' }), headers);
    const isClaimed = async () =>
      (
        await database.query<unknown[]>('SELECT 1 FROM idempotency_records WHERE key = $1', [
          headers['idempotency-key'],
        ])
      ).length > 0;
    await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE keywords IN ACCESS EXCLUSIVE MODE');
      const first = post();
      await until('the gateway has claimed the key', isClaimed);
      await tx.query('LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE');
      const { status, body } = await first;
      expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
    });
    await until('the repetition gets the outcome', async () => {
      const { status, body } = await post();
      expect([
        [201, 'Late'],
        [409, undefined],
      ]).toContainEqual([status, body.name]);
      return status === 201;
    });
  });

  it('is answered before its body has arrived, and its connection is closed, if it has no valid key', async () => {
    const { all } = await send(
      `POST /v1/keywords HTTP/1.1\r\nhost: x\r\nx-api-key: ${newApiKey()}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{`,
    );
    // A 408 would mean that only the time limit of the request has closed the connection.
    const [head = '', ...rest] = (await all).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 401 [\s\S]*\r\nconnection: close/i);
    expect(rest.join()).not.toContain('HTTP/1.1 408');
  });
});

it('a connection is closed when its client stops reading the answer', async () => {
  // More than the buffers of a connection can hold.
  const many = 'GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(100);
  const stalled = await Promise.all(
    Array.from({ length: MAX_CONNECTIONS }, async () => {
      const { socket } = await send(many);
      return socket.pause();
    }),
  );
  await until('other clients are served', async () => (await get('/healthz')).status === 200);
  for (const socket of stalled) socket.destroy();
});

it('connections beyond MAX_CONNECTIONS are closed until other connections have ended', async () => {
  const held = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, () => send('')));
  const { all } = await send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await all).toBe('');
  for (const { socket } of held) socket.destroy();
  await until('the gateway serves requests again', async () => (await get('/healthz')).status === 200);
});

describe('the listener', () => {
  it('sends headers that forbid content sniffing, and caching of /v1', async () => {
    const key = { 'x-api-key': tenant.api.apiKey };
    for (const [path, headers, store] of [
      ['/v1/keywords', key, 'no-store'],
      ['/v1/keywords', {}, 'no-store'],
      ['/v1/no-such-thing', key, 'no-store'],
      ['/v1/openapi.json', {}, 'no-store'],
      ['/healthz', {}, undefined],
    ] as const) {
      const answer = await get(path, headers);
      expect([path, answer.headers['x-content-type-options']]).toEqual([path, 'nosniff']);
      expect([path, answer.headers['cache-control']]).toEqual([path, store]);
    }
    const malformed = await send('GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await malformed.all).toContain('x-content-type-options: nosniff');
    const broken = await send('NOT HTTP\r\n\r\n');
    expect(await broken.all).toContain('x-content-type-options: nosniff');
  });
});

it('the gateway listens only on 127.0.0.1 and accepts at most 1,000 connections by default', () => {
  const { HOST, MAX_CONNECTIONS } = readSettings(['HOST', 'MAX_CONNECTIONS'], {});
  expect([HOST, MAX_CONNECTIONS]).toEqual(['127.0.0.1', 1000]);
});

describe('/readyz and /metrics', () => {
  it('require the OPERATIONS_TOKEN if it is set', async () => {
    for (const path of ['/readyz', '/metrics']) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, { authorization: 'Bearer another-token-of-length' })).status).toBe(401);
      expect((await get(path, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    }
  });

  it('return 403 if HOST is not loopback and no token is set, but /healthz is open', async () => {
    for (const path of ['/readyz', '/metrics']) {
      const { status, body } = await get(path, {}, publicService.url);
      expect([status, JSON.parse(body).code]).toEqual([403, 'FORBIDDEN']);
    }
    expect((await get('/healthz', {}, publicService.url)).status).toBe(200);
  });
});

describe('requests without a valid key', () => {
  it('are refused with 429 after sixty requests a minute from one address, without affecting other addresses', async () => {
    const from = (address: string, key: string) =>
      get('/v1/keywords', { 'x-forwarded-for': address, 'x-api-key': key });
    const good = tenant.api.apiKey;
    expect((await from('192.0.2.7', good)).status).toBe(200);
    const statuses: number[] = [];
    let last = { status: 0, headers: {} as Record<string, unknown> };
    // A new minute can begin during the loop: then the address has sixty more requests.
    for (let n = 0; n < 121 && last.status !== 429; n += 1) {
      last = await from('192.0.2.7', newApiKey());
      statuses.push(last.status);
    }
    expect(statuses.slice(0, 60)).toEqual(Array(60).fill(401));
    expect(last.status).toBe(429);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(last.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await from('192.0.2.7', good)).status).toBe(200);
    expect((await from('192.0.2.8', newApiKey())).status).toBe(401);
  });

  it('do not reach Postgres after their address is refused', async () => {
    const from = (key: string) => get('/v1/keywords', { 'x-forwarded-for': '2001:db8::1', 'x-api-key': key });
    for (let status = 0; status !== 429;) ({ status } = await from(newApiKey()));
    // A query would fail now, and give a 500.
    await database.query('ALTER TABLE api_keys RENAME TO api_keys_away');
    const answers = await Promise.all(Array.from({ length: 20 }, () => from(newApiKey())));
    // Another address of the same subscriber.
    answers.push(await get('/v1/keywords', { 'x-forwarded-for': '2001:db8::2', 'x-api-key': newApiKey() }));
    await database.query('ALTER TABLE api_keys_away RENAME TO api_keys');
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
  });

  it.each<[string, string, () => [string, Record<string, string>], string, number]>([
    [
      'a key at GET /v1/auth/session',
      '203.0.113.1',
      () => ['/v1/auth/session', { 'x-api-key': newApiKey() }],
      'api_keys',
      401,
    ],
    [
      'a session at GET /v1/auth/session',
      '203.0.113.2',
      () => ['/v1/auth/session', { cookie: `earshot_session=${randomOf(32)}` }],
      'sessions',
      401,
    ],
    ['the address of a feed', '203.0.113.3', () => [`/feeds/${randomOf(40)}.xml`, {}], 'keywords', 404],
    ['the address of a report', '203.0.113.4', () => [`/reports/${randomOf(24)}`, {}], 'reports', 404],
  ])('cannot guess %s more than 60 times a minute', async (_, address, guess, table, refused) => {
    const attempt = () => {
      const [path, headers] = guess();
      return get(path, { ...headers, 'x-forwarded-for': address });
    };
    const statuses = new Set<number>();
    for (let n = 0; n < 121 && !statuses.has(429); n += 1) statuses.add((await attempt()).status);
    expect([...statuses]).toEqual([refused, 429]);
    // A query would fail now, and give a 500.
    await database.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    const { status } = await attempt();
    await database.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    expect(status).toBe(429);
  });

  it('do not stop other people of the same network from reading feeds that were read before', async () => {
    const { body: keyword } = await tenant.api.post('/v1/keywords', keywordBody());
    const { body: feed } = await tenant.api.get(`/v1/keywords/${keyword.id}/feed`);
    const path = new URL(feed.atomUrl).pathname;
    const from = (read: string) => get(read, { 'x-forwarded-for': '203.0.113.5' });
    expect((await from(path)).status).toBe(200);
    for (let status = 0; status !== 429;) ({ status } = await from(`/feeds/${randomOf(40)}.xml`));
    expect((await from(path)).status).toBe(200);
  });

  it('can ask any number of times whether there is a session if they have no key and no cookie', async () => {
    const ask = () => get('/v1/auth/session', { 'x-forwarded-for': '203.0.113.6' });
    const statuses = new Set<number>();
    for (let n = 0; n < 121; n += 1) statuses.add((await ask()).status);
    expect([...statuses]).toEqual([401]);
  });

  it('get an error that names the right header if the key came as Authorization: Bearer', async () => {
    const { body } = await get('/v1/keywords', { authorization: `Bearer ${tenant.api.apiKey}` });
    expect(JSON.parse(body).error).toBe(
      'the header x-api-key is missing; send the API key there, not in authorization',
    );
  });
});
