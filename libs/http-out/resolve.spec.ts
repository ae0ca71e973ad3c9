import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeOpened, guardedClient, get, loopbackServer, text } from './testing/client-and-servers.js';
import { startNameServer, type NameServer } from './testing/name-server.js';
import { createResolve, type ResolveOptions } from './resolve.js';

let names: NameServer;
let directory: string;
let hostsFile: string;
const systemAsked: string[] = [];

beforeAll(async () => {
  names = await startNameServer((name) => {
    if (name.endsWith('.silent.example')) return 'silent';
    return name === 'known.example' ? '127.0.0.1' : 'unknown';
  });
  directory = await mkdtemp(join(tmpdir(), 'hosts-'));
  hostsFile = join(directory, 'hosts');
  await writeFile(hostsFile, '# comment\n192.0.2.1 own.example Other.Example # own\n::1 own.example\n\n');
});
beforeEach(() => {
  names.asked.length = 0;
  systemAsked.length = 0;
});
afterEach(closeOpened);
afterAll(async () => {
  names?.close();
  await rm(directory, { recursive: true });
});

const resolver = (more: ResolveOptions = {}) =>
  createResolve({
    nameServers: [names.address],
    hostsFile,
    timeoutMs: 100,
    systemLookup: (name) => {
      systemAsked.push(name);
      return name === 'local' ? Promise.resolve(['10.0.0.1']) : Promise.reject(new Error('ENOTFOUND'));
    },
    ...more,
  });

describe('the lookup of a host name', () => {
  it('returns the addresses in the hosts file, and asks no name server', async () => {
    expect(await resolver()('OWN.example')).toEqual(['192.0.2.1', '::1']);
    expect(await resolver()('other.example')).toEqual(['192.0.2.1']);
    expect(names.asked).toEqual([]);
  });

  it('asks the name servers for a name that is not in the hosts file', async () => {
    expect(await resolver()('known.example')).toEqual(['127.0.0.1']);
    expect(await resolver({ hostsFile: join(directory, 'absent') })('known.example')).toEqual(['127.0.0.1']);
    expect(systemAsked).toEqual([]);
  });

  it('asks the operating system for a name that the name servers do not know', async () => {
    expect(await resolver()('local')).toEqual(['10.0.0.1']);
    await expect(resolver()('absent.example')).rejects.toThrow('ENOTFOUND');
  });

  it('does not ask the operating system if the name servers do not answer', async () => {
    expect(await resolver()('a.silent.example')).toEqual([]);
    expect(systemAsked).toEqual([]);
  });

  it('asks the operating system for one name after the other', async () => {
    const waiting: (() => void)[] = [];
    const resolve = resolver({
      systemLookup: (name) => {
        systemAsked.push(name);
        return new Promise((end) => waiting.push(() => end([])));
      },
    });
    const both = [resolve('a.example'), resolve('b.example')];
    const first = await Promise.race(both.map((lookup) => lookup.then(() => 'ended')).concat(asked()));
    expect([first, systemAsked.length]).toEqual(['asked', 1]);
    waiting.shift()?.();
    await asked(2);
    waiting.shift()?.();
    await Promise.all(both);
  });

  it('does not wait for other names whose name servers do not answer', async () => {
    const server = await loopbackServer((_, response) => response.end('hello'));
    const http = guardedClient({ allow: ['127.0.0.0/8'], resolve: resolver({ timeoutMs: 1000 }) });
    for (let n = 0; n < 40; n += 1)
      void http.request(get(`http://n${n}.silent.example/`)).catch(() => undefined);
    const answer = await http.request(get(`http://known.example:${server.port}/`));
    expect(text(answer.bytes)).toBe('hello');
  });
});

/** Resolves when the operating system was asked for so many names. */
async function asked(count = 1): Promise<string> {
  while (systemAsked.length < count) await new Promise((resolve) => setImmediate(resolve));
  return 'asked';
}
