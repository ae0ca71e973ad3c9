// Builds the dashboard into dist/apps/dashboard, if its inputs have changed since the last build.
//
//   node scripts/build-dashboard.mjs [--force]

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { root } from './prepare.mjs';

const OUTPUT = join(root, 'dist/apps/dashboard');
const STAMP = join(OUTPUT, '.built');
/** The inputs of the build. */
const INPUTS = ['apps/dashboard', 'clients/typescript', 'scripts/build-dashboard.mjs', 'package-lock.json'];
const COMPRESSED = new Set(['.js', '.css', '.svg', '.json']);
/** Files that are smaller than this are not compressed, because they fit into one packet without compression. */
const MIN_COMPRESSED_BYTES = 1024;

const wanted = signature();
if (process.argv.includes('--force') || readText(STAMP) !== wanted) {
  const { build } = await import('vite');
  rmSync(STAMP, { force: true });
  await build({ configFile: join(root, 'apps/dashboard/vite.config.ts'), logLevel: 'warn' });
  await compressAll(join(OUTPUT, 'assets'));
  writeFileSync(STAMP, wanted);
}

/** Returns a hash of the inputs' contents, because a fresh checkout has new modification times. */
function signature() {
  const hash = createHash('sha256');
  for (const input of INPUTS) collect(input, hash);
  return hash.digest('hex');
}

function collect(path, hash) {
  const file = join(root, path);
  if (!existsSync(file)) return;
  if (path.includes('.')) return void hash.update(`${path}\0`).update(readFileSync(file));
  for (const entry of readdirSync(file, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || entry.name === 'dist') continue;
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) collect(child, hash);
    else hash.update(`${child}\0`).update(readFileSync(join(root, child)));
  }
}

/**
 * Writes `<file>.br` and `<file>.gz` beside each text file of at least 1 KiB, so that the gateway does not need to
 * compress it.
 */
async function compressAll(folder) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
  await Promise.all(
    readdirSync(folder).map(async (name) => {
      const file = join(folder, name);
      const bytes = readFileSync(file);
      if (!COMPRESSED.has(extname(name)) || bytes.length < MIN_COMPRESSED_BYTES) return;
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, quality));
      writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
