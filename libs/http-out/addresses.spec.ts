import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { privateIpv4, publicIpv4, v4InV6, v4Spelling } from './testing/addresses.js';
import { notAllowed } from './outbound-error.js';
import {
  closeOpened,
  guardedClient,
  faultOf,
  get,
  loopbackServer,
  allowedServer,
  serverOn,
  text,
} from './testing/client-and-servers.js';

afterEach(closeOpened);

/** Whether this machine has `::1`. */
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

describe('the outbound client', () => {
  it('refuses private addresses in many spellings', async () => {
    const http = guardedClient({ allow: [] });
    const hosts = fc.oneof(
      fc.tuple(privateIpv4, v4Spelling).map(([address, spell]) => spell(address)),
      fc.tuple(privateIpv4, v4InV6).map(([address, embed]) => `[${embed(address)}]`),
    );
    await fc.assert(
      fc.asyncProperty(hosts, fc.constantFrom('http', 'https'), async (host, scheme) => {
        expect(await faultOf(http.request(get(`${scheme}://${host}/x`)))).toMatch(/^blocked: /);
      }),
    );
  });

  it.each([
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::ffff:7f00:1]',
    '127.0.0.1.',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
  ])('never reaches a server on this machine through the host name %s', async (host) => {
    const server = await loopbackServer();
    expect(await faultOf(guardedClient().request(get(`http://${host}:${server.port}/`)))).toMatch(
      /^blocked: /,
    );
    expect(server.connections()).toBe(0);
  });

  it.each([
    ['ftp://example.org/', 'invalid_url: only http and https addresses can be reached'],
    ['file:///etc/passwd', 'invalid_url: only http and https addresses can be reached'],
    ['example.org', 'invalid_url: the address is not a URL'],
    ['http://', 'invalid_url: the address is not a URL'],
    ['http://user:word@example.org/', 'invalid_url: the address must not contain a user name or a password'],
    ['http://example.org@127.0.0.1/', 'invalid_url: the address must not contain a user name or a password'],
    ['http://example.org:0/', 'invalid_url: port 0 cannot be reached'],
  ])('refuses %s, even if the caller rewrites addresses', async (url, fault) => {
    expect(await faultOf(guardedClient().request(get(url)))).toBe(fault);
    const reroute = (address: string) => new URL(address).href;
    expect(await faultOf(guardedClient().request(get(url, { redirects: 'none', reroute })))).toBe(fault);
  });

  it('reaches the addresses that EGRESS_ALLOW names, also localhost', async () => {
    const server = await loopbackServer((_, response) => response.end('hello'));
    const http = guardedClient({ allow: ['127.0.0.0/8'] });
    for (const host of ['127.0.0.1', '127.1', 'localhost']) {
      expect(text((await http.request(get(`http://${host}:${server.port}/`))).bytes)).toBe('hello');
    }
  });

  (hasIpv6 ? it : it.skip)('reaches localhost only at the one address that EGRESS_ALLOW names', async () => {
    const server = await serverOn('::1', (_, response) => response.end('hello'));
    const url = `http://localhost:${server.port}/`;
    const allowing = (cidr: string) => guardedClient({ allow: [cidr] });
    expect(text((await allowing('::1/128').request(get(url))).bytes)).toBe('hello');
    const connections = server.connections();
    expect(await faultOf(allowing('127.0.0.1/32').request(get(url)))).toMatch(/^network: /);
    expect(server.connections()).toBe(connections);
  });

  it('reaches a private address only if the request is trusted, even after a trusted request to the same address', async () => {
    const server = await loopbackServer();
    const http = guardedClient();
    expect((await http.request(get(server.origin, { trusted: true }))).status).toBe(200);
    expect(await faultOf(http.request(get(server.origin)))).toMatch(/^blocked: /);
  });
});

describe('the outbound client, for a host name in DNS,', () => {
  it('refuses a name if one of its addresses is private', async () => {
    let answers: string[] = [];
    const http = guardedClient({ resolve: () => Promise.resolve(answers) });
    let names = 0;
    const privateAddress = fc.oneof(
      privateIpv4,
      fc.tuple(privateIpv4, v4InV6).map(([a, embed]) => embed(a)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(publicIpv4, { maxLength: 3 }), privateAddress, async (good, bad) => {
        answers = [...good, bad];
        names += 1;
        expect(await faultOf(http.request(get(`http://host-${names}.example/`)))).toBe(
          `blocked: ${notAllowed(`host-${names}.example`)}`,
        );
      }),
    );
  });

  it('connects to the checked address, and not to an address from a later lookup', async () => {
    const server = await allowedServer((_, response) => response.end('outside'));
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let lookups = 0;
    const http = guardedClient({ resolve: () => Promise.resolve(answers[lookups++] ?? []) });
    const url = `http://rebinding.example:${server.port}/`;
    expect(text((await http.request(get(url))).bytes)).toBe('outside');
    expect(lookups).toBe(1);
    const again = guardedClient({ resolve: () => Promise.resolve(answers[lookups++] ?? []) });
    expect(await faultOf(again.request(get(url)))).toMatch(/^blocked: /);
  });

  it.each([
    ['is private', () => Promise.resolve(['10.0.0.1'])],
    ['has no address', () => Promise.resolve([])],
    ['is unknown', () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))],
    ['is refused by the name server', () => Promise.reject(Object.assign(new Error(), { code: 'EREFUSED' }))],
    ['cannot be looked up', () => Promise.reject(Object.assign(new Error(), { code: 'EAI_AGAIN' }))],
    ['is looked up too slowly', () => Promise.reject(Object.assign(new Error(), { code: 'ETIMEDOUT' }))],
  ])('reports only “address not allowed” for a name that %s', async (_, resolve) => {
    const fault = await faultOf(guardedClient({ resolve }).request(get('http://inside.example/x?token=1')));
    expect(fault.replace(/^\w+: /, '')).toBe(notAllowed('inside.example'));
    expect(fault).toContain('address not allowed');
  });

  it.each([
    ['timeout', 'takes too long', 'ETIMEDOUT'],
    ['network', 'fails because too many names wait', 'EAI_AGAIN'],
  ])('reports the fault `%s` if the lookup of the name %s', async (kind, _, code) => {
    const resolve = () => Promise.reject(Object.assign(new Error(), { code }));
    expect(await faultOf(guardedClient({ resolve }).request(get('http://inside.example/')))).toBe(
      `${kind}: ${notAllowed('inside.example')}`,
    );
  });

  it('stops at its deadline if the name server does not answer', async () => {
    const http = guardedClient({ resolve: () => new Promise(() => undefined) });
    expect(await faultOf(http.request(get('http://slow.example/', { deadlineMs: 30 })))).toBe(
      'timeout: slow.example did not answer completely within 0.03 s',
    );
  });
});
