import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkout } from '#testing';

const script = fileURLToPath(new URL('scripts/complete-lock.mjs', checkout));
const lockFile = fileURLToPath(new URL('package-lock.json', checkout));
const directory = mkdtempSync(join(tmpdir(), 'earshot-lock-'));
const copy = join(directory, 'package-lock.json');

afterAll(() => rmSync(directory, { recursive: true }));

interface Lock {
  packages: Record<string, Record<string, unknown>>;
}

function run(...args: string[]) {
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
}

describe('package-lock.json', () => {
  it('names every optional platform package with its version, so that npm ci works on every platform', () => {
    expect(run('--check')).toMatchObject({ status: 0, stderr: '' });
  });

  it('is completed from the parent packages when npm omitted other platforms', () => {
    const whole = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock;
    const { packages } = structuredClone(whole);
    const omitted = [
      '@chdb/lib-darwin-arm64',
      '@unrs/resolver-binding-linux-x64-musl',
      '@bufbuild/buf-win32-x64',
    ];
    for (const name of omitted) delete packages[`node_modules/${name}`];
    writeFileSync(copy, JSON.stringify({ ...whole, packages }));
    const check = run('--check', copy);
    expect(check.status).toBe(1);
    for (const name of omitted) expect(check.stderr).toContain(name);
    expect(run(copy).status).toBe(0);
    const completed = (JSON.parse(readFileSync(copy, 'utf8')) as Lock).packages;
    expect(Object.keys(completed)).toEqual(Object.keys(whole.packages));
    expect(completed['node_modules/@unrs/resolver-binding-linux-x64-musl']).toEqual({
      version: whole.packages['node_modules/unrs-resolver']?.version,
      cpu: ['x64'],
      dev: true,
      libc: ['musl'],
      optional: true,
      os: ['linux'],
    });
  });
});
