import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import compiled from './compiled.cjs';

const { root, compiledFile } = compiled;

/** Stops the stores that all specs share. */
export default async function teardown() {
  const { stopSharedStores } = await import(
    pathToFileURL(compiledFile(join(root, 'test/shared-stores.ts'))).href
  );
  await stopSharedStores();
}
