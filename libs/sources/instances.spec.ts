import { describe, expect, it } from 'vitest';
import { criteriaOf } from './fake-upstream.js';
import { hostOf, hostOfSetting, instanceFaults, instancesOf, readInstances } from './instances.js';
import { UpstreamError, type Fetched } from './source.js';

const WANTED = 'must be a list of 1 to 5 servers, for example "lamps.example"';

describe('the servers of a network that a search names', () => {
  it.each([
    ['lamps.example', 'lamps.example'],
    ['https://Lamps.Example/', 'lamps.example'],
    ['sub.lamps.example', 'sub.lamps.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['lamps.example:8080', undefined],
    ['lamps.example/about', undefined],
    ['user@lamps.example', undefined],
    ['localhost', undefined],
    ['127.0.0.1', undefined],
    ['127.1', undefined],
    ['[::1]', undefined],
    ['a b.example', undefined],
    ['', undefined],
  ])('%j is the host %j', (text, host) => {
    expect(hostOf(text)).toBe(host);
  });

  it('are each read once', () => {
    const instances = ['Lamps.example', 'https://lamps.example', 'light.example'];
    expect(instancesOf(criteriaOf({ filters: { instances } }))).toEqual(['lamps.example', 'light.example']);
    expect(instancesOf(criteriaOf({}))).toEqual([]);
  });

  it.each([
    [undefined, undefined],
    ['lamps.example', undefined],
    [7, WANTED],
    [[], WANTED],
    [['lamps.example', 'localhost'], `${WANTED}; "localhost" is not`],
    [['a.example', 'b.example', 'c.example', 'd.example', 'e.example', 'f.example'], 'at most 5'],
  ])('%j have the fault %j', (instances, message) => {
    const faults = message === undefined ? [] : [{ path: 'filters.instances', message }];
    const criteria = criteriaOf(instances === undefined ? {} : { filters: { instances } });
    expect(instanceFaults(criteria, 'lamps.example')).toEqual(faults);
  });

  it('are one where the setting names it, and the usual one where it is empty', () => {
    expect(hostOfSetting('SOURCE_X', ' https://light.example/ ', 'lamps.example')).toBe('light.example');
    expect(hostOfSetting('SOURCE_X', '', 'lamps.example')).toBe('lamps.example');
    expect(() => hostOfSetting('SOURCE_X', 'http://localhost:1', 'lamps.example')).toThrow(
      'SOURCE_X must be the name of a server, for example lamps.example',
    );
  });
});

describe('reading several servers', () => {
  const nothing: Fetched = { items: [], gap: false, warnings: [] };
  const failing = (host: string, waitMs?: number) =>
    new UpstreamError('server_error', `lemmy answered 500 (${host[0]})`, 500, waitMs);
  const read = (hosts: readonly string[], bad: readonly string[]) =>
    readInstances('lemmy', hosts, 'own.example', (host) =>
      bad.includes(host) ? Promise.reject(failing(host, bad.indexOf(host) * 1000)) : Promise.resolve(nothing),
    );

  it('one that fails is a warning', async () => {
    expect(await read(['a.example', 'b.example'], ['b.example'])).toEqual({
      ...nothing,
      warnings: ['lemmy on b.example: lemmy answered 500 (b)'],
    });
  });

  it('all failing is a fault, with the longest wait, of this search alone', async () => {
    await expect(read(['a.example', 'b.example'], ['a.example', 'b.example'])).rejects.toMatchObject({
      kind: 'server_error',
      message:
        'none of the 2 servers of lemmy could be read: lemmy on a.example: lemmy answered 500 (a); lemmy on b.example: lemmy answered 500 (b)',
      retryAfterMs: 1000,
      reach: 'search',
    });
  });

  it('the own one failing alone is its fault as it is, and everybody waits', async () => {
    await expect(read(['own.example'], ['own.example'])).rejects.toMatchObject({
      message: 'lemmy answered 500 (o)',
      reach: 'upstream',
    });
  });

  it('what is not the upstream is not hidden', async () => {
    const broken = () => Promise.reject(new TypeError('broken'));
    await expect(readInstances('lemmy', ['a.example'], 'own.example', broken)).rejects.toThrow(TypeError);
  });
});
