import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCachedFile } from './cached-file.js';

let directory: string;
let path: string;
let readings: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cached-'));
  path = join(directory, 'file');
  readings = 0;
});
afterEach(() => rm(directory, { recursive: true }));

const cached = () =>
  createCachedFile(
    path,
    () => {
      readings += 1;
      return readFile(path, 'utf8');
    },
    'absent',
  );

describe('a cached file', () => {
  it('is read once for all calls, also for calls at the same time', async () => {
    await writeFile(path, 'one');
    const content = cached();
    expect(await Promise.all([content(), content(), content()])).toEqual(['one', 'one', 'one']);
    expect(await content()).toBe('one');
    expect(readings).toBe(1);
  });

  it('is read again after a change of its size, or only of its time', async () => {
    await writeFile(path, 'one');
    await utimes(path, 1, 1);
    const content = cached();
    expect(await content()).toBe('one');
    await writeFile(path, 'three');
    await utimes(path, 1, 1);
    expect(await content()).toBe('three');
    await writeFile(path, 'seven');
    await utimes(path, 2, 2);
    expect(await content()).toBe('seven');
    expect(readings).toBe(3);
  });

  it('is absent while it cannot be read, and is read as soon as it exists', async () => {
    const content = cached();
    expect(await content()).toBe('absent');
    await writeFile(path, 'one');
    expect(await content()).toBe('one');
    await rm(path);
    expect(await content()).toBe('absent');
  });

  it('is read again, even if it has not changed, after a read has failed', async () => {
    await writeFile(path, 'one');
    const content = createCachedFile(
      path,
      () => {
        readings += 1;
        return readings === 1 ? Promise.reject(new Error('EIO')) : readFile(path, 'utf8');
      },
      'absent',
    );
    expect(await content()).toBe('absent');
    expect(await content()).toBe('one');
  });
});
