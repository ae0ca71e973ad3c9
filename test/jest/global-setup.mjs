import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from '../../scripts/lock.mjs';
import compiled from './compiled.cjs';
import teardown from './global-teardown.mjs';

const { root, compiledRoot, compiledFile } = compiled;

/** Compiles what has changed, then starts the stores that all specs share. */
export default async function setup() {
  await compile();
  const { startSharedStores } = await import(
    pathToFileURL(compiledFile(join(root, 'test/shared-stores.ts'))).href
  );
  // jest itself ends at once when it is interrupted, without the teardown.
  for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.once(signal, () => void teardown().finally(() => process.exit(exitCode)));
  process.env.SPEC_STORES = JSON.stringify(await startSharedStores());
}

/**
 * Compiles sources and specs into one tree, in which a spec meets one copy of each class. Types are checked by
 * `npm run typecheck`, not here.
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
