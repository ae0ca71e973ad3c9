import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '#testing';
import { createDirectory } from './create-directory.js';

describe('createDirectory', () => {
  let base: string;
  beforeEach(() => (base = mkdtempSync(join(tmpdir(), 'create-directory-'))));
  afterEach(() => rmSync(base, { recursive: true }));

  it('creates missing parents, and accepts an existing directory or a link to one', () => {
    const path = join(base, 'a/b/c');
    for (let n = 0; n < 2; n += 1) createDirectory(path, 0o711);
    expect([path, join(base, 'a')].map((made) => statSync(made).mode & 0o777)).toEqual([0o711, 0o711]);
    symlinkSync(path, join(base, 'link'));
    createDirectory(join(base, 'link'), 0o711);
    createDirectory(join(base, 'link/d'), 0o711);
    expect(statSync(join(path, 'd')).isDirectory()).toBe(true);
  });

  it('throws if the path or its parent is a file, or a link to a directory that does not exist', () => {
    writeFileSync(join(base, 'file'), '');
    symlinkSync(join(base, 'missing/data'), join(base, 'link'));
    expect(() => createDirectory(join(base, 'file'), 0o711)).toThrow('EEXIST');
    expect(() => createDirectory(join(base, 'file/data'), 0o711)).toThrow('ENOTDIR');
    expect(() => createDirectory(join(base, 'link'), 0o711)).toThrow('EEXIST');
    expect(() => createDirectory(join(base, 'link/data'), 0o711)).toThrow('EEXIST');
  });

  // The call would block the process of the spec if it did not return.
  it.each(['/proc/earshot', '/proc/earshot/data'])(
    'throws if the system creates no directory in %s',
    (path) => {
      const module = new URL('dist/libs/embedded/create-directory.js', checkout).href;
      const script = `import(${JSON.stringify(module)}).then((it) => it.createDirectory(${JSON.stringify(path)}, 0o711))`;
      const options = { encoding: 'utf8', timeout: 10_000, killSignal: 'SIGKILL' } as const;
      const { status, stderr } = spawnSync(process.execPath, ['-e', script], options);
      expect(status).toBe(1);
      expect(stderr).toContain("ENOENT: no such file or directory, mkdir '/proc/earshot'");
    },
  );
});
