import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { checkout, until } from '#testing';

const program = fileURLToPath(new URL('dist/apps/clickhouse-bridge/main.js', checkout));
const directory = mkdtempSync(join(tmpdir(), 'bridge-process-'));
const children = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of children) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  children.clear();
  rmSync(directory, { recursive: true, force: true });
});

function launch(...options: string[]): ChildProcess {
  if (!existsSync(program)) throw new Error('this spec runs the built bridge: npm run build');
  const child = spawn(process.execPath, [program, '--dir', directory, ...options], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '24', NODE_OPTIONS: '' },
  });
  children.add(child);
  return child;
}

async function connectTo(child: ChildProcess) {
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  const { port } = JSON.parse(line) as { port: number };
  const { user: username, password } = JSON.parse(
    readFileSync(join(directory, 'credentials.json'), 'utf8'),
  ) as Record<string, string>;
  return createClient({
    url: `http://127.0.0.1:${port}`,
    username,
    password,
    log: { level: ClickHouseLogLevel.OFF },
  });
}

it('the bridge keeps every acknowledged insert and no partial insert if it is killed during inserts', async () => {
  const batch = 1_000;
  let acknowledged = 0;
  for (let round = 0; round < 3; round++) {
    const child = launch();
    const client = await connectTo(child);
    await client.command({ query: 'CREATE TABLE IF NOT EXISTS t (n UInt32) ENGINE = MergeTree ORDER BY n' });
    const killAt = acknowledged + 20 * batch;
    for (;;) {
      const values = Array.from({ length: batch }, (_, i) => ({ n: acknowledged + i }));
      const inserting = client.insert({ table: 't', values, format: 'JSONEachRow' });
      // The process is killed during the last insert, so either all rows of this insert exist, or none.
      if (acknowledged === killAt) child.kill('SIGKILL');
      if (
        !(await inserting.then(
          () => true,
          () => false,
        ))
      )
        break;
      acknowledged += batch;
    }
    await client.close();
    const next = launch();
    const nextClient = await connectTo(next);
    const result = await nextClient.query({
      query: 'SELECT countIf(n < {acknowledged:UInt32}) AS known, count() % {batch:UInt32} AS rest FROM t',
      query_params: { acknowledged, batch },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ known: acknowledged, rest: 0 }]);
    await nextClient.command({
      query: 'ALTER TABLE t DELETE WHERE n >= {acknowledged:UInt32} SETTINGS mutations_sync = 1',
      query_params: { acknowledged },
    });
    await nextClient.close();
    next.kill('SIGTERM');
    expect(await once(next, 'exit')).toEqual([0, null]);
  }
  expect(acknowledged).toBeGreaterThanOrEqual(60 * batch);
}, 90_000);

it('the bridge that was started with --exit-with-stdin exits when its standard input ends', async () => {
  const child = launch('--exit-with-stdin');
  await (await connectTo(child)).close();
  child.stdin!.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('the bridge exits within 6 s of SIGTERM, even if a statement is running', async () => {
  const child = launch();
  const client = await connectTo(child);
  const running = client
    .query({ query: 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1' })
    .then(
      () => 'answered',
      (error: { code?: string }) => error.code,
    );
  await until('the statement runs', async () => {
    const result = await client.query({
      query: 'SELECT count() AS n FROM system.processes',
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ n: number }>();
    return row?.n === 2;
  });
  const startedAt = Date.now();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(Date.now() - startedAt).toBeLessThan(6_000);
  expect(['394', 'ECONNRESET']).toContain(await running);
  await client.close();
});

it('the bridge refuses a directory that another process uses', async () => {
  const first = launch();
  await (await connectTo(first)).close();
  const second = launch();
  let stderr = '';
  second.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  expect(await once(second, 'close')).toEqual([1, null]);
  expect(stderr).toContain(`${directory} is in use by a running process (pid ${first.pid} on `);
});

it('the bridge reports a port that is in use, and exits', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const child = launch('--port', String((server.address() as AddressInfo).port));
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(stderr).toContain('EADDRINUSE');
  server.close();
});

it('the bridge prints its options for --help, and exits', async () => {
  const child = launch('--help');
  const exit = once(child, 'exit');
  let printed = '';
  for await (const chunk of child.stdout!) printed += String(chunk);
  expect([await exit, printed]).toEqual([[0, null], expect.stringContaining('--credentials FILE')]);
});
