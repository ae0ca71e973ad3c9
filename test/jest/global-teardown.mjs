import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import compiled from './compiled.cjs';

const { root, compiledFile } = compiled;

/** Stops the stores that all specs share, and deletes what specs have left in memory. */
export default async function teardown() {
  const { stopSharedStores } = await import(
    pathToFileURL(compiledFile(join(root, 'test/shared-stores.ts'))).href
  );
  await stopSharedStores();
  if (process.env.SPEC_FILES) rmSync(process.env.SPEC_FILES, { recursive: true, force: true });
}
