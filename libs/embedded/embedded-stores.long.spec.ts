import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { checkout, until } from '#testing';
import { DirectoryInUseError } from './directory-lock.js';
import { startEmbedded, type EmbeddedStores } from './embedded-stores.js';
import { identify, isRunning, type ProcessIdentity } from './process-identity.js';
import { readRuntime } from './runtime-file.js';

const STORES = ['nats', 'postgres', 'clickhouse'] as const;
const compiled = new URL('dist/libs/embedded/index.js', checkout);

let base: string;
let dataDir: string;
let logLines: string[];
const log = {
  info: (message: string) => void logLines.push(message),
  warn: (message: string) => void logLines.push(message),
};
const cleanUp: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  logLines = [];
  base = mkdtempSync(join(tmpdir(), 'embedded-'));
  chmodSync(base, 0o755);
  dataDir = join(base, 'data');
});

afterEach(async () => {
  for (const work of cleanUp.splice(0).reverse()) await work();
  rmSync(base, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedStores> {
  const stores = await startEmbedded({ dataDir, log });
  cleanUp.push(() => stores.stop());
  return stores;
}

/** Starts the stores in another process, which then waits. */
async function startInOtherProcess(): Promise<ChildProcess> {
  if (!existsSync(fileURLToPath(compiled)))
    throw new Error('this spec needs the built library; run `npm run build` first');
  const script = `
    const { startEmbedded } = await import(process.env.LIBRARY);
    const log = { info() {}, warn() {} };
    await startEmbedded({ dataDir: process.env.DIRECTORY, log });
    console.log('up');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, LIBRARY: compiled.href, DIRECTORY: dataDir, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUp.push(async () => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(line).toBe('up');
  return child;
}

function pidOf(name: string): number {
  return (JSON.parse(readFileSync(join(dataDir, `${name}.pid`), 'utf8')) as ProcessIdentity).pid;
}

function identityOf(name: string): ProcessIdentity {
  const identity = identify(pidOf(name));
  if (!identity) throw new Error(`${name} does not run`);
  return identity;
}

type Addresses = Pick<EmbeddedStores, 'natsUrl' | 'databaseUrl' | 'clickhouseUrl'>;

function connectNats(url: string) {
  const { host, username: user, password: pass } = new URL(url);
  return connect({ servers: host, user, pass });
}

async function write(stores: Addresses, value: string): Promise<void> {
  const nats = await connectNats(stores.natsUrl);
  const manager = await jetstreamManager(nats);
  await manager.streams.add({ name: 'KEEP', subjects: ['keep'] });
  await jetstream(nats).publish('keep', value);
  await nats.close();
  const postgres = new pg.Client(stores.databaseUrl);
  await postgres.connect();
  await postgres.query('CREATE TABLE keep (v text)');
  await postgres.query('INSERT INTO keep VALUES ($1)', [value]);
  await postgres.end();
  const clickhouse = createClient({ url: stores.clickhouseUrl, log: { level: ClickHouseLogLevel.OFF } });
  await clickhouse.command({ query: 'CREATE TABLE keep (v String) ENGINE = MergeTree ORDER BY v' });
  await clickhouse.insert({ table: 'keep', values: [{ v: value }], format: 'JSONEachRow' });
  await clickhouse.close();
}

async function read(stores: EmbeddedStores): Promise<string[]> {
  const nats = await connectNats(stores.natsUrl);
  const message = await (await jetstreamManager(nats)).streams.getMessage('KEEP', { last_by_subj: 'keep' });
  await nats.close();
  const postgres = new pg.Client(stores.databaseUrl);
  await postgres.connect();
  const { rows } = await postgres.query<{ v: string }>('SELECT v FROM keep');
  await postgres.end();
  const clickhouse = createClient({ url: stores.clickhouseUrl, log: { level: ClickHouseLogLevel.OFF } });
  const result = await clickhouse.query({ query: 'SELECT v FROM keep', format: 'JSONEachRow' });
  const kept = await result.json<{ v: string }>();
  await clickhouse.close();
  return [message?.string() ?? '', ...rows.map(({ v }) => v), ...kept.map(({ v }) => v)];
}

describe('the embedded stores', () => {
  it('keep their data: a second start finds it, and no store runs between the two starts', async () => {
    const first = await start();
    expect(first.started).toEqual([...STORES]);
    await write(first, 'kept');
    const identities = STORES.map(identityOf);
    const asked = Date.now();
    await first.stop();
    expect(Date.now() - asked).toBeLessThan(10_000);
    expect(identities.filter(isRunning)).toEqual([]);
    expect(await read(await start())).toEqual(['kept', 'kept', 'kept']);
  });

  it('publish their addresses for the command line while they run', async () => {
    const stores = await start();
    const runtime = readRuntime(dataDir);
    expect(runtime).toEqual({
      pid: process.pid,
      natsUrl: stores.natsUrl,
      databaseUrl: stores.databaseUrl,
      clickhouseUrl: stores.clickhouseUrl,
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
    expect(statSync(join(dataDir, 'runtime.json')).mode & 0o777).toBe(0o600);
    await stores.stop();
    expect(readRuntime(dataDir)).toBeUndefined();
  });

  it('are started only if they have no configured address', async () => {
    const stores = await startEmbedded({ dataDir, natsUrl: 'nats://n', databaseUrl: 'postgres://d', log });
    cleanUp.push(() => stores.stop());
    expect(stores).toMatchObject({
      natsUrl: 'nats://n',
      databaseUrl: 'postgres://d',
      started: ['clickhouse'],
    });
  });

  it('use a database role that is not a superuser and can create the needed extensions', async () => {
    const { databaseUrl } = await start();
    const client = new pg.Client(databaseUrl);
    await client.connect();
    const { rows } = await client.query(
      'SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user',
    );
    expect(rows).toEqual([{ rolsuper: false, rolcreatedb: true }]);
    for (const name of ['pg_trgm', 'pgcrypto', 'citext', 'btree_gin'])
      await client.query(`CREATE EXTENSION ${name}`);
    await client.end();
  });

  it('work below a directory that other users cannot enter', async () => {
    const closed = join(base, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    dataDir = join(closed, 'data');
    const first = await start();
    await write(first, 'inside');
    await first.stop();
    expect(await read(await start())).toEqual(['inside', 'inside', 'inside']);
    expect(statSync(closed).mode & 0o777).toBe(0o700);
  });

  it('are restarted on the same port after they were killed', async () => {
    const stores = await start();
    await write(stores, 'kept');
    for (const name of STORES) process.kill(pidOf(name), 'SIGKILL');
    const back = () => logLines.filter((line) => line.endsWith('is back')).sort();
    await until('all stores run again', () => back().length === 3);
    expect(back()).toEqual(['clickhouse is back', 'nats is back', 'postgres is back']);
    expect(await read(stores)).toEqual(['kept', 'kept', 'kept']);
  });
});

describe('one data directory', () => {
  it('belongs to one installation at a time', async () => {
    const stores = await start();
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(DirectoryInUseError);
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(
      `${dataDir} is in use by a running process (pid ${process.pid} on `,
    );
    await stores.stop();
    await start();
  });

  it('can be used again after kill -9 left its stores running', async () => {
    const parent = await startInOtherProcess();
    const runtime = readRuntime(dataDir);
    if (!runtime) throw new Error('no runtime file');
    await write(runtime, 'before the kill');
    const orphans = STORES.map(identityOf);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    expect(readRuntime(dataDir)).toBeUndefined();
    expect(orphans.slice(0, 2).filter(isRunning)).toHaveLength(2);
    const stores = await start();
    expect(orphans.filter(isRunning)).toEqual([]);
    expect(logLines).toContain('stopped the stores that an earlier run left behind');
    expect(await read(stores)).toEqual(['before the kill', 'before the kill', 'before the kill']);
  });

  it('can be used again without ending an unrelated process that has the pid of an earlier store', async () => {
    const stores = await start();
    await stores.stop();
    const unrelatedProcess = spawn('sleep', ['60'], { stdio: 'ignore' });
    cleanUp.push(async () => unrelatedProcess.kill('SIGKILL'));
    const identity = identify(unrelatedProcess.pid as number);
    if (!identity) throw new Error('the unrelated process does not run');
    for (const name of STORES)
      writeFileSync(join(dataDir, `${name}.pid`), JSON.stringify({ ...identity, startedAt: 'earlier' }));
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${unrelatedProcess.pid}\n/elsewhere\n`);
    await start();
    expect(isRunning(identity)).toBe(true);
  });

  it('keeps no lock and no process if a store cannot be started', async () => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'clickhouse'), 'a file where the directory should be');
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(/clickhouse/);
    expect(STORES.filter((name) => existsSync(join(dataDir, `${name}.pid`)))).toEqual([]);
    rmSync(join(dataDir, 'clickhouse'));
    await start();
  });
});
