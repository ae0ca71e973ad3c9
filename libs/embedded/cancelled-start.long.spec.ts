import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { checkout, until } from '#testing';
import { startEmbedded } from './embedded-stores.js';
import { commandLine } from './process-identity.js';

const library = new URL('dist/libs/embedded/index.js', checkout).href;
const log = { info: () => undefined, warn: () => undefined };
let base: string;
let dataDir: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'giving-up-'));
  chmodSync(base, 0o755);
  dataDir = join(base, 'data');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Returns the command lines of running processes that contain this spec's directory. */
function remainingProcesses(): string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => commandLine(Number(pid)).join(' '))
    .filter((line) => line.includes(dataDir));
}

it.each([0, 150, 600, 1500])('a start that is cancelled after %i ms leaves no process', async (ms) => {
  const stopping = new AbortController();
  const started = startEmbedded({ dataDir, log, signal: stopping.signal }).then(
    (stores) => stores.stop().then(() => 'was faster'),
    () => 'gave up',
  );
  await after(ms);
  stopping.abort();
  await started;
  expect(remainingProcesses()).toEqual([]);
  // The directory is free again.
  await (await startEmbedded({ dataDir, log })).stop();
});

it('the stores exit when the program that started them exits without stopping them', async () => {
  const script = `
    const { startEmbedded } = await import(process.env.LIBRARY);
    await startEmbedded({ dataDir: process.env.DIRECTORY, log: { info() {}, warn() {} } });
    process.exit(3);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, LIBRARY: library, DIRECTORY: dataDir, NODE_OPTIONS: '' },
    stdio: 'inherit',
  });
  expect(await once(child, 'exit')).toEqual([3, null]);
  await until('no process is left', () => remainingProcesses().length === 0, 5000);
});
