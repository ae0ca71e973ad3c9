import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClickHouseError, ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { until } from '#testing';
import { BridgeServer } from './bridge-server.js';
import { clientTasks } from './testing/client-tasks.js';

const directory = mkdtempSync(join(tmpdir(), 'bridge-'));
const credentials = { user: 'earshot', password: 'a secret of this spec' };
let bridge: BridgeServer;
let url: string;
let client: ClickHouseClient;

beforeAll(async () => {
  const started = await BridgeServer.start(directory, 0, credentials);
  bridge = started.bridge;
  url = `http://127.0.0.1:${started.port}`;
  client = createClient({
    url,
    username: credentials.user,
    password: credentials.password,
    log: { level: ClickHouseLogLevel.OFF },
  });
});

afterAll(async () => {
  await client.close();
  await bridge.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function rows<T = Record<string, unknown>>(query: string, query_params?: Record<string, unknown>) {
  const result = await client.query({
    query,
    format: 'JSONEachRow',
    ...(query_params ? { query_params } : {}),
  });
  return result.json<T>();
}

/** Resolves when no other statement is running. */
async function waitUntilIdle(): Promise<void> {
  while ((await rows<{ n: string }>('SELECT count() AS n FROM system.processes'))[0]?.n.toString() !== '1');
}

function post(
  path: string,
  body: string,
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      { method: 'POST', auth: `${credentials.user}:${credentials.password}` },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

clientTasks(() => ({ url, credentials, client, rows }));

it('the engine behind the bridge can select and insert, but has no rights for files, addresses, other servers, functions, users or SYSTEM', async () => {
  const grants = (await rows<Record<string, string>>('SHOW GRANTS')).flatMap(Object.values).join('\n');
  expect(grants).toContain('SELECT, INSERT');
  expect(grants).not.toMatch(
    /\b(ALL|FILE|URL|REMOTE|SOURCES|SYSTEM|CREATE FUNCTION|CREATE USER|GRANT OPTION)\b/,
  );
});

describe('separate requests', () => {
  it('share no settings: the deduplication token of one insert does not apply to a later insert without a token', async () => {
    await client.command({
      query:
        'CREATE TABLE once (n UInt8) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100',
    });
    const insert = (n: number, token?: string) =>
      client.insert({
        table: 'once',
        values: [{ n }],
        format: 'JSONEachRow',
        ...(token ? { clickhouse_settings: { insert_deduplication_token: token } } : {}),
      });
    await insert(1, 'a');
    await insert(1, 'a');
    await insert(2);
    await insert(3, 'b');
    expect(await rows('SELECT n FROM once ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('share no parameters', async () => {
    await rows('SELECT {secret:String} AS v', { secret: 'x' });
    await expect(rows('SELECT {secret:String} AS v')).rejects.toMatchObject({ code: '456' });
  });

  it('get no rows of an earlier request that failed', async () => {
    const failing =
      'SELECT number, throwIf(number = 60000) FROM numbers(100000) SETTINGS max_threads = 1, max_block_size = 1000';
    for (let i = 0; i < 20; i++) {
      await expect(rows(failing)).rejects.toMatchObject({ code: '395' });
      expect(await rows('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    }
  });
});

describe('errors', () => {
  it('have the error code and type of ClickHouse', async () => {
    const failure = await rows('SELECT * FROM nowhere').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ClickHouseError);
    expect(failure).toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
    await expect(rows('SELEC 1')).rejects.toMatchObject({ code: '62' });
    await expect(
      client.query({ query: 'SELECT 1', clickhouse_settings: { nonsense: '1' } as Record<string, string> }),
    ).rejects.toMatchObject({ code: '115' });
    await expect(
      client.insert({ table: 'once', values: [{ n: 'not a number' }], format: 'JSONEachRow' }),
    ).rejects.toMatchObject({ code: '27' });
    await expect(client.query({ query: 'SELECT 1', session_id: 's' })).rejects.toMatchObject({ code: '48' });
  });

  it('have the header, the status and the text that clients of ClickHouse read', async () => {
    const answer = await post('/', 'SELECT * FROM nowhere');
    expect(answer.status).toBe(404);
    expect(answer.headers['x-clickhouse-exception-code']).toBe('60');
    expect(answer.body).toMatch(/^Code: 60\. DB::Exception: .* \(UNKNOWN_TABLE\) \(version .*\)\n$/);
  });

  it('are returned for a body with two statements, and the second statement does not run', async () => {
    await expect(client.command({ query: 'SELECT 1; DROP TABLE texts' })).rejects.toMatchObject({
      code: '62',
    });
    expect(await rows('EXISTS TABLE texts')).toEqual([{ result: 1 }]);
  });

  it('reach the reader of a stream after the first rows were sent', async () => {
    const result = await client.query({
      query: 'SELECT number, throwIf(number = 2000000) FROM numbers(4000000) SETTINGS max_threads = 1',
      format: 'JSONEachRow',
    });
    let read = 0;
    const reading = async () => {
      for await (const batch of result.stream()) read += batch.length;
    };
    await expect(reading()).rejects.toMatchObject({ code: '395' });
    expect(read).toBeGreaterThan(100_000);
  });

  it('are returned for a statement that takes too long', async () => {
    await expect(
      client.query({
        query: 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1',
        clickhouse_settings: { max_execution_time: 1 },
      }),
    ).rejects.toMatchObject({ code: '159' });
  });

  it('state that the rows of an insert cannot be written to the disk', async () => {
    const inbox = join(directory, 'inbox');
    rmSync(inbox, { recursive: true });
    writeFileSync(inbox, 'a file instead of the directory');
    const inserted = client.insert({ table: 'once', values: [{ n: 9 }], format: 'JSONEachRow' });
    await expect(inserted).rejects.toMatchObject({ code: '75', type: 'CANNOT_WRITE_TO_FILE_DESCRIPTOR' });
    rmSync(inbox);
    mkdirSync(inbox);
  });

  it('are returned for a write by GET', async () => {
    const query = encodeURIComponent('INSERT INTO once VALUES (9)');
    const status = await new Promise((resolve) =>
      request(`${url}/?query=${query}`, { auth: `${credentials.user}:${credentials.password}` }, (response) =>
        resolve(response.resume().headers['x-clickhouse-exception-code']),
      ).end(),
    );
    expect(status).toBe('164');
  });
});

describe('a large result', () => {
  it('is sent in pieces as JSONEachRow and as a whole as JSON, with every row', async () => {
    // The rows take more than 16 MiB of the engine's memory. A constant text would be stored only once.
    const query = `SELECT number, rightPad(toString(number), 200, 'x') AS s FROM numbers(100000)`;
    const pieces = await client.query({ query, format: 'JSONEachRow' });
    let read = 0;
    for await (const batch of pieces.stream()) read += batch.length;
    expect(read).toBe(100_000);
    const whole = await client.query({ query, format: 'JSON' });
    expect((await whole.json()).rows).toBe(100_000);
    // Only a result that is sent as a whole has a known length.
    const isWhole = [pieces, whole].map(({ response_headers }) => 'content-length' in response_headers);
    expect(isWhole).toEqual([false, true]);
  });

  it('is stopped if its reader disconnects', async () => {
    const result = await client.query({
      query: 'SELECT number FROM numbers(100000000000)',
      format: 'JSONEachRow',
    });
    // When the loop is left, the stream and its connection are destroyed.
    for await (const batch of result.stream()) if (batch.length > 0) break;
    await waitUntilIdle();
  });
});

describe('a client that disconnects', () => {
  it('leaves no running or waiting statement that could block other clients', async () => {
    const abort = new AbortController();
    const ask = () =>
      client
        .query({
          query: 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1',
          abort_signal: abort.signal,
        })
        .then(
          () => 'answered',
          () => 'gave up',
        );
    const running = ask();
    await until('the slow statement runs', async () => (await countSlowStatements()) === 1);
    const waiting = Array.from({ length: 8 }, ask);
    abort.abort();
    expect(await Promise.all([running, ...waiting])).toEqual(Array(9).fill('gave up'));
    await waitUntilIdle();
  });

  async function countSlowStatements(): Promise<number> {
    const [row] = await rows<{ n: number }>(
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%sipHash64(number) = 1%'",
    );
    return Number(row?.n ?? 0) - 1;
  }
});

describe('authentication', () => {
  const right = `${credentials.user}:${credentials.password}`;
  const ask = (path: string, options: { auth?: string; headers?: Record<string, string> }) =>
    new Promise<{ status: number; code: unknown; connection: unknown }>((resolve, reject) => {
      // The headers announce a body that is never sent: a request without credentials gets its response before its body
      // arrives.
      const headers = { 'content-length': '100', ...options.headers };
      const sent = request(`${url}${path}`, { method: 'POST', ...options, headers }, (response) => {
        resolve({
          status: response.resume().statusCode ?? 0,
          code: response.headers['x-clickhouse-exception-code'],
          connection: response.headers.connection,
        });
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });

  it.each([
    ['refuses a request without credentials', {}],
    ['refuses a request with another password', { auth: `${credentials.user}:x` }],
    ['refuses a request with another user', { auth: `default:${credentials.password}` }],
    [
      'refuses a request with an empty password',
      { headers: { 'x-clickhouse-user': 'earshot', 'x-clickhouse-key': '' } },
    ],
    ['refuses a request whose credentials cannot be read', { headers: { authorization: 'Basic ====' } }],
  ])('%s', async (_, options) => {
    const refused = { status: 403, code: '516', connection: 'close' };
    expect(await ask('/?query=SELECT+1', options)).toEqual(refused);
    expect(await ask('/ping', options)).toEqual(refused);
  });

  it.each([
    ['refuses a request with the host name of a foreign page', { host: 'evil.example' }],
    ['refuses a request of a page in a browser', { origin: 'http://localhost:8080' }],
    ['refuses a request of a page with the origin null', { origin: 'null' }],
  ])('%s', async (_, headers) => {
    expect(await ask('/?query=SELECT+1', { auth: right, headers })).toMatchObject({
      status: 403,
      code: '497',
    });
  });

  it('accepts credentials in the headers of ClickHouse', async () => {
    const headers = { 'x-clickhouse-user': credentials.user, 'x-clickhouse-key': credentials.password };
    const status = await new Promise((resolve) =>
      request(`${url}/ping`, { headers }, (response) => resolve(response.resume().statusCode)).end(),
    );
    expect(status).toBe(200);
  });
});
