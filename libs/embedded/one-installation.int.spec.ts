import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { checkout } from '#testing';
import { startEmbedded, type EmbeddedStores } from './embedded-stores.js';
import { identify, isRunning, type ProcessIdentity } from './process-identity.js';

const library = new URL('dist/libs/embedded/index.js', checkout).href;
/** Prefix that runs a program with separate process ids, as in another container. */
const OTHER_CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc'] as const;
const canSeparateProcessIds =
  spawnSync(OTHER_CONTAINER[0], [...OTHER_CONTAINER.slice(1), 'true']).status === 0;

const log = { info: () => undefined, warn: () => undefined };
let base: string;
let dataDir: string;
const cleanUp: (() => unknown)[] = [];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'one-installation-'));
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

/** Starts the stores in another process. That process prints `up` and waits, or prints the error and exits. */
function startAsProcess(prefix: readonly string[]): ChildProcess {
  const script = `
    const { startEmbedded } = await import(process.env.LIBRARY);
    try {
      await startEmbedded({ dataDir: process.env.DIRECTORY, log: { info() {}, warn() {} } });
      console.log('up');
      setInterval(() => {}, 1000);
    } catch (error) {
      console.log(error.message);
      process.exit(1);
    }`;
  const [file = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', script];
  const child = spawn(file, args, {
    env: { ...process.env, LIBRARY: library, DIRECTORY: dataDir, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUp.push(() => child.kill('SIGKILL'));
  return child;
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'exit');
  return output;
}

/** Returns name, inode and change time of each entry of the data directory, except the file `lock`. */
function fileStates(): string[] {
  return readdirSync(dataDir)
    .filter((name) => name !== 'lock')
    .map((name) => `${name} ${statSync(join(dataDir, name)).ino} ${statSync(join(dataDir, name)).ctimeMs}`);
}

async function writtenAndRead(stores: EmbeddedStores): Promise<number> {
  const client = new pg.Client(stores.databaseUrl);
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS kept (n int)');
  await client.query('INSERT INTO kept VALUES (1)');
  const { rowCount } = await client.query('SELECT n FROM kept');
  await client.end();
  return rowCount ?? 0;
}

describe('one data directory', () => {
  (canSeparateProcessIds ? it : it.skip)(
    'refuses a second start from another container, and that start changes no file',
    async () => {
      const stores = await start();
      expect(await writtenAndRead(stores)).toBe(1);
      const before = fileStates();
      const output = await outputOf(startAsProcess(OTHER_CONTAINER));
      expect(output).toContain(`${dataDir} is in use by a running process (pid ${process.pid} on `);
      expect(fileStates()).toEqual(before);
      expect(await writtenAndRead(stores)).toBe(2);
    },
  );

  (canSeparateProcessIds ? it : it.skip)(
    'refuses a start from another container while Postgres of a killed Earshot still runs, and can be used again on the same host',
    async () => {
      const first = startAsProcess([]);
      await once(first.stdout as NodeJS.ReadableStream, 'data');
      const { pid } = JSON.parse(readFileSync(join(dataDir, 'postgres.pid'), 'utf8')) as ProcessIdentity;
      const postmaster = identify(pid);
      first.kill('SIGKILL');
      await once(first, 'exit');
      const output = await outputOf(startAsProcess(OTHER_CONTAINER));
      expect(output).toContain('an earlier Earshot left running in another container or on another host');
      expect(postmaster && isRunning(postmaster)).toBe(true);
      expect(await writtenAndRead(await start())).toBe(1);
      expect(postmaster && isRunning(postmaster)).toBe(false);
    },
  );

  it('cannot be used while an earlier release uses it, although that release takes no lock of the operating system', async () => {
    mkdirSync(dataDir, { recursive: true });
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    cleanUp.push(() => other.kill('SIGKILL'));
    writeFileSync(join(dataDir, 'lock'), JSON.stringify(identify(other.pid as number)));
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(`a running process (pid ${other.pid})`);
  });

  it.each(['-original', '/original'])(
    'can be copied while Earshot uses it, and the copy can be used meanwhile, even if the original is DATA_DIR%s',
    async (suffix) => {
      const onlyNats = { databaseUrl: 'postgres://127.0.0.1:1', clickhouseUrl: 'http://127.0.0.1:1', log };
      const startNats = async (directory: string) => {
        const stores = await startEmbedded({ ...onlyNats, dataDir: directory });
        cleanUp.push(() => stores.stop());
        return JSON.parse(readFileSync(join(directory, 'nats.pid'), 'utf8')) as ProcessIdentity;
      };
      const original = await startNats(`${dataDir}${suffix}`);
      cpSync(`${dataDir}${suffix}`, dataDir, { recursive: true });
      const other = spawn('sleep', ['60'], { stdio: 'ignore' });
      cleanUp.push(() => other.kill('SIGKILL'));
      const user = { ...identify(other.pid as number), host: hostname() };
      writeFileSync(join(dataDir, 'lock'), JSON.stringify(user));
      const copy = await startNats(dataDir);
      expect(copy.pid).not.toBe(original.pid);
      expect([original, copy].filter(isRunning)).toHaveLength(2);
    },
  );

  it('can be used again after the pid of a started store could not be written', async () => {
    // A link without a target behaves like a file on a full disk when it is read, written or removed.
    mkdirSync(dataDir, { recursive: true });
    symlinkSync(join(base, 'missing', 'nats.pid'), join(dataDir, 'nats.pid'));
    const onlyNats = { dataDir, log, databaseUrl: 'unused', clickhouseUrl: 'unused' };
    await expect(startEmbedded(onlyNats)).rejects.toThrow('nats.pid');
    const stores = await startEmbedded(onlyNats);
    cleanUp.push(() => stores.stop());
    expect(stores.started).toEqual(['nats']);
  });

  it('keeps files that a failed start did not create', async () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres', 'notes.txt'), 'mine');
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(
      /is not a Postgres cluster and is not empty/,
    );
    expect(readFileSync(join(dataDir, 'postgres', 'notes.txt'), 'utf8')).toBe('mine');
  });
});
