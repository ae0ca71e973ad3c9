import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from '../../scripts/lock.mjs';
import compiled from './compiled.cjs';
import teardown from './global-teardown.mjs';

const { root, compiledRoot, compiledFile } = compiled;

/** The files of this folder are in memory. */
const MEMORY = '/dev/shm';
/** The files of the specs took up to 0.3 GiB at the same time. The programs of the specs need the rest as memory. */
const MIN_FREE_BYTES = 6 * 2 ** 30;

/** Compiles what has changed, then starts the stores that all specs share. */
export default async function setup() {
  await compile();
  writeToMemory();
  const { startSharedStores } = await import(
    pathToFileURL(compiledFile(join(root, 'test/shared-stores.ts'))).href
  );
  // jest itself ends immediately when it is interrupted, without the teardown.
  for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.once(signal, () => void teardown().finally(() => process.exit(exitCode)));
  process.env.SPEC_STORES = JSON.stringify(await startSharedStores());
}

/**
 * Keeps the temporary files of the specs in memory if there is enough room, because a disk needs more processor time.
 * These files include the data of the stores. Does nothing if `TMPDIR` is set already. Deletes the files of runs that
 * were killed.
 */
function writeToMemory() {
  if (process.env.TMPDIR || !existsSync(MEMORY)) return;
  for (const name of readdirSync(MEMORY)) {
    const owner = /^earshot-specs-(\d+)-/.exec(name)?.[1];
    if (owner && !existsSync(`/proc/${owner}`)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(MEMORY);
  if (Math.min(bavail * bsize, freemem()) < MIN_FREE_BYTES) return;
  const directory = mkdtempSync(join(MEMORY, `earshot-specs-${process.pid}-`));
  // If the specs run as root, the stores run as other users, and must be able to write here.
  chmodSync(directory, 0o1777);
  process.env.TMPDIR = directory;
  process.env.SPEC_FILES = directory;
}

/**
 * Compiles sources and specs into one tree, so that a spec loads only one copy of each class. Types are
 * checked by `npm run typecheck`, not here.
 */
async function compile() {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(compiledRoot, { recursive: true });
  writeFileSync(
    join(compiledRoot, 'package.json'),
    JSON.stringify({ type: 'module', imports }).replaceAll('./dist/', './'),
  );
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc');
  const tell = (line) => process.stderr.write(`${line}\n`);
  await withLock(join(compiledRoot, '.compile.lock'), tell, async () => {
    const child = spawn(process.execPath, [tsc, '-p', join(root, 'tsconfig.test.json')], {
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error('the specs cannot be compiled');
  });
}
