import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHosts } from './hosts-file.js';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hosts-'));
  path = join(directory, 'hosts');
});
afterEach(() => rm(directory, { recursive: true }));

describe('a hosts file', () => {
  it('is read with all addresses of each name, in lower case and without comments', async () => {
    await writeFile(path, '# a b\n10.0.0.1 One two two # three\r\n\n\t10.0.0.2\tone\n::1 one\n10.0.0.1 four');
    expect([...(await readHosts(path))]).toEqual([
      ['one', ['10.0.0.1', '10.0.0.2', '::1']],
      ['two', ['10.0.0.1']],
      ['four', ['10.0.0.1']],
    ]);
  });

  it('is read in parts if it has 200,000 names, so that other work can run in between', async () => {
    const names = Array.from({ length: 200_000 }, (_, n) => `host-${n}.blocked.example`);
    await writeFile(path, names.map((name) => `0.0.0.0 ${name}\n`).join(''));
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const hosts = await readHosts(path);
    clearImmediate(next);
    // `readHosts` reads this file in about 100 parts, and other work can run after each part.
    expect(turns).toBeGreaterThan(20);
    expect(names.filter((name) => hosts.get(name)?.join() !== '0.0.0.0')).toEqual([]);
  });

  it('causes an error if it is a folder', async () => {
    await expect(readHosts(directory)).rejects.toThrow('EISDIR');
  });
});
