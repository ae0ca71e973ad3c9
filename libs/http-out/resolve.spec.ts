import { Resolver } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeOpened, guardedClient, get, loopbackServer, text } from './testing/client-and-servers.js';
import { startNameServer, type NameServer } from './testing/name-server.js';
import { createResolve, type ResolveOptions } from './resolve.js';

let names: NameServer;
let directory: string;
let hostsFile: string;
let resolvConf: string;
const systemAsked: string[] = [];

const ADDRESSES: Readonly<Record<string, string>> = {
  'known.example': '127.0.0.1',
  'hooks.dev': '192.0.2.9',
  'hooks.dev.svc.cluster.local': '10.0.0.9',
  'empty.dev.svc.cluster.local': 'empty',
  'empty.dev': '192.0.2.8',
  'api.example.org': '192.0.2.7',
};
/** The names that only the operating system knows. */
const LOCAL: Readonly<Record<string, string[]>> = { local: ['10.0.0.1'] };
const KUBERNETES = 'search dev.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n';

beforeAll(async () => {
  names = await startNameServer((name) => {
    if (name.endsWith('.silent.example')) return 'silent';
    if (name.endsWith('.failing.example')) return 'failed';
    return ADDRESSES[name] ?? 'unknown';
  });
  directory = await mkdtemp(join(tmpdir(), 'hosts-'));
  hostsFile = join(directory, 'hosts');
  await writeFile(hostsFile, '# comment\n192.0.2.1 own.example Other.Example # own\n::1 own.example\n\n');
});
beforeEach(async () => {
  resolvConf = await searching('search .\n');
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
    resolvConf,
    timeoutMs: 100,
    systemLookup: (name) => {
      systemAsked.push(name);
      return name === 'broken' ? Promise.reject(new Error('EAI_FAIL')) : Promise.resolve(LOCAL[name] ?? []);
    },
    ...more,
  });

/** Writes a `resolv.conf` with this text, and returns its path. */
async function searching(rules: string): Promise<string> {
  const path = join(directory, 'resolv.conf');
  await writeFile(path, rules);
  return path;
}

/** The names that the name server was asked for until now, in this order. It is asked for each family of addresses. */
const askedNames = () => [...new Set(names.asked)];

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
    expect(await resolver()('absent.example')).toEqual([]);
    await expect(resolver()('broken')).rejects.toThrow('EAI_FAIL');
  });

  it('does not ask the operating system if the name servers do not answer', async () => {
    expect(await resolver()('a.silent.example')).toEqual([]);
    expect(systemAsked).toEqual([]);
  });

  it('does not wait for other names whose name servers do not answer', async () => {
    const server = await loopbackServer((_, response) => response.end('hello'));
    // The other tests use another name server and another operating system.
    const own = await startNameServer((name) => (name === 'known.example' ? '127.0.0.1' : 'silent'));
    const systemLookup = () => Promise.resolve([]);
    const resolve = resolver({ timeoutMs: 1000, nameServers: [own.address], systemLookup });
    const http = guardedClient({ allow: ['127.0.0.0/8'], resolve });
    const silent = Array.from({ length: 40 }, (_, n) => http.request(get(`http://n${n}.silent.example/`)));
    const answer = await http.request(get(`http://known.example:${server.port}/`));
    expect(text(answer.bytes)).toBe('hello');
    await Promise.allSettled(silent);
    own.close();
  });
});

describe('the lookup of a host name with search domains', () => {
  it('prefers a service of the cluster to a name of the internet', async () => {
    resolvConf = await searching(KUBERNETES);
    expect(await resolver()('hooks.dev')).toEqual(['10.0.0.9']);
    expect(askedNames()).toEqual(['hooks.dev.dev.svc.cluster.local', 'hooks.dev.svc.cluster.local']);
    expect(systemAsked).toEqual([]);
  });

  it('asks for the name without a search domain if no search domain has the name', async () => {
    resolvConf = await searching(KUBERNETES);
    expect(await resolver()('api.example.org')).toEqual(['192.0.2.7']);
    expect(askedNames()).toEqual([
      'api.example.org.dev.svc.cluster.local',
      'api.example.org.svc.cluster.local',
      'api.example.org.cluster.local',
      'api.example.org',
    ]);
    expect(systemAsked).toEqual([]);
  });

  it('adds no search domain to a name with a final dot', async () => {
    resolvConf = await searching(KUBERNETES);
    expect(await resolver()('hooks.dev.')).toEqual(['192.0.2.9']);
    expect(await resolver()('absent.dev.')).toEqual([]);
    expect(askedNames()).toEqual(['hooks.dev', 'absent.dev']);
  });

  it.each([
    ['has no address', 'empty', 'search dev.svc.cluster.local dev\n', '192.0.2.8'],
    ['cannot be looked up', 'hooks', 'search x.failing.example dev\n', '192.0.2.9'],
  ])(
    'asks for the name in the second search domain if the name %s in the first',
    async (_, name, rules, address) => {
      resolvConf = await searching(rules);
      expect(await resolver()(name)).toEqual([address]);
    },
  );

  it('ends without a result if the name servers of a search domain do not answer', async () => {
    resolvConf = await searching('search x.silent.example dev\n');
    expect(await resolver()('hooks')).toEqual([]);
    expect(askedNames()).toEqual(['hooks.x.silent.example']);
    expect(systemAsked).toEqual([]);
  });

  it('asks the operating system after the first question if no name server can be reached', async () => {
    resolvConf = await searching(KUBERNETES);
    const gone = await startNameServer(() => 'silent');
    gone.close();
    const questions = jest.spyOn(Resolver.prototype, 'resolve4');
    expect(await resolver({ nameServers: [gone.address] })('local')).toEqual(['10.0.0.1']);
    expect(questions.mock.calls).toEqual([['local.dev.svc.cluster.local']]);
    questions.mockRestore();
  });

  it('follows a change of the search domains', async () => {
    const resolve = resolver();
    expect(await resolve('hooks')).toEqual([]);
    await searching('search dev\n');
    expect(await resolve('hooks')).toEqual(['192.0.2.9']);
  });

  it('asks the operating system for the name without a search domain if no name server knows the name', async () => {
    resolvConf = await searching(KUBERNETES);
    expect(await resolver()('local')).toEqual(['10.0.0.1']);
    expect(systemAsked).toEqual(['local']);
  });
});
