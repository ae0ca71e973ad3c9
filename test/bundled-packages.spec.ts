import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { checkout } from '#testing';

const BUNDLE = fileURLToPath(new URL('dist/node_modules', checkout));

/** Returns each specifier that a program can import from the bundle, with its file. */
function bundled(): [specifier: string, file: string][] {
  const manifests = readdirSync(BUNDLE, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('package.json'),
  );
  return manifests.flatMap((path) => {
    const { name, exports } = JSON.parse(readFileSync(join(BUNDLE, path), 'utf8')) as {
      name: string;
      exports: Record<string, string>;
    };
    return Object.entries(exports).map(([subpath, file]): [string, string] => [
      `${name}${subpath.slice(1)}`,
      pathToFileURL(join(BUNDLE, name, file)).href,
    ]);
  });
}

/**
 * Returns the names that each module exports. Reads them in a separate process, because one process must not
 * load two copies of a package.
 */
async function namesOf(modules: readonly string[]): Promise<string[][]> {
  const code = `const all = await Promise.all(${JSON.stringify(modules)}.map((one) => import(one)));
    console.log(JSON.stringify(all.map((one) => Object.keys(one).filter((name) => name !== 'module.exports').sort())));
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: fileURLToPath(checkout),
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout) as string[][];
}

it('a bundled package exports the same names as the original package', async () => {
  const modules = bundled();
  expect(modules.length).toBeGreaterThan(30);
  const [ofBundle, ofPackages] = await Promise.all([
    namesOf(modules.map(([, file]) => file)),
    namesOf(modules.map(([specifier]) => specifier)),
  ]);
  const pairs = (names: string[][]) => modules.map(([specifier], n) => [specifier, names[n]]);
  expect(pairs(ofBundle)).toEqual(pairs(ofPackages));
}, 60_000);
