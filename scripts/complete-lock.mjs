// Completes package-lock.json. npm records only the optional platform packages that the current registry has. `npm ci`
// then refuses the lock file on another platform, or if another registry has more of these packages.
//
//   node scripts/complete-lock.mjs [FILE]          after every npm install that changes the lock file
//   node scripts/complete-lock.mjs --check [FILE]  exit code 1 if an entry is missing

import { readFileSync, writeFileSync } from 'node:fs';

const OS = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
};
const CPU = {
  aarch64: 'arm64',
  arm: 'arm',
  arm64: 'arm64',
  armv7: 'arm',
  ia32: 'ia32',
  loong64: 'loong64',
  mips64el: 'mips64el',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  x64: 'x64',
};
const LIBC = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };

/**
 * Returns the entries that the lock file lacks, by path. A package of the lock file can require an optional package
 * without an entry. The missing entry is made from the parent's `optionalDependencies` and from the platform in the
 * name. The entry has no `integrity`, because only a registry with this package knows that value.
 * @throws Error for a package whose version is a range, or whose name contains no platform. Add its entry manually
 */
function missingEntries({ packages }) {
  const missing = new Map();
  for (const [path, parent] of Object.entries(packages))
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {}))
      if (!hasEntry(packages, path, name))
        missing.set(`node_modules/${name}`, entryOf(name, version, parent));
  return missing;
}

/**
 * Returns whether the lock file has an entry for the package. Searches like Node: first in the `node_modules` of the
 * parent, then in those of the folders above.
 */
function hasEntry(packages, path, name) {
  for (let base = path; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${base && `${base}/`}node_modules/${name}`]) return true;
    if (base === '') return false;
  }
}

function entryOf(name, version, parent) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error(`${name}: ${version} is not an exact version`);
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const find = (table) => words.map((word) => table[word]).find(Boolean);
  const [os, cpu] = [find(OS), find(CPU)];
  if (!os || !cpu) throw new Error(`${name} has no platform in its name`);
  const libc = os === 'linux' ? find(LIBC) : undefined;
  return {
    version,
    cpu: [cpu],
    ...(parent.dev ? { dev: true } : {}),
    ...(libc ? { libc: [libc] } : {}),
    optional: true,
    os: [os],
  };
}

function complete(file, isCheck) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const missing = missingEntries(lock);
  if (missing.size === 0) return;
  if (isCheck) {
    console.error(
      `package-lock.json lacks: ${[...missing.keys()].join(', ')}. Run node scripts/complete-lock.mjs`,
    );
    process.exitCode = 1;
    return;
  }
  const all = [...Object.entries(lock.packages), ...missing].sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(all);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.error(`${missing.size} entries were added`);
}

const words = process.argv.slice(2);
const [file = new URL('../package-lock.json', import.meta.url)] = words.filter(
  (word) => !word.startsWith('--'),
);
complete(file, words.includes('--check'));
