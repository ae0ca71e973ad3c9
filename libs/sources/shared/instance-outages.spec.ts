import { SPEC_NOW, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { readInstances } from './instances.js';
import { UpstreamError, type FetchContext } from '../source.js';

const minutes = (n: number) => new Date(SPEC_NOW.getTime() + n * 60_000);

/** Several reads of a search, which keep only the history of its state. */
function reads(hosts = ['a.example', 'b.example'], history?: unknown) {
  const { http } = fakeUpstream('lemmy', () => ({}));
  const kept = () => (history === undefined ? {} : { history });
  /**
   * Reads the servers, of which some fail.
   * @returns the minutes from which each server was read
   */
  const read = async (at: number, since: number | undefined, down: readonly string[] = []) => {
    const from = new Map<string, number | undefined>();
    const context = fakeContext(http, {
      now: minutes(at),
      state: structuredClone(kept()),
      ...(since !== undefined && { since: minutes(since) }),
    });
    const source = 'lemmy' as const;
    await readInstances({ source, hosts, own: 'own.example', context }, (host, reading) => {
      from.set(host, reading.since && (reading.since.getTime() - SPEC_NOW.getTime()) / 60_000);
      if (down.includes(host)) return Promise.reject(new UpstreamError('server_error', 'down', 503));
      return Promise.resolve({ items: [], gap: false, warnings: [] });
    });
    history = context.state['history'];
    return hosts.map((host) => from.get(host));
  };
  return { read, kept };
}

describe('a server that failed at earlier reads of a search', () => {
  it('is read from the end of its last successful read, unlike the other servers', async () => {
    const { read } = reads();
    expect(await read(60, -5)).toEqual([-5, -5]);
    expect(await read(120, 55, ['b.example'])).toEqual([55, 55]);
    expect(await read(180, 115, ['b.example'])).toEqual([115, 55]);
    expect(await read(240, 175)).toEqual([175, 55]);
    expect(await read(300, 235)).toEqual([235, 235]);
  });

  it('is also read further back for another watch with a longer interval', async () => {
    const { read } = reads();
    await read(60, -5, ['b.example']);
    expect(await read(75, 55)).toEqual([55, -5]);
    expect(await read(90, 70)).toEqual([70, 70]);
    expect(await read(120, 55)).toEqual([55, -5]);
  });

  it('is read only from the start of its last outage, not of an earlier one', async () => {
    const { read } = reads();
    await read(60, -5, ['b.example']);
    await read(120, 55);
    await read(180, 115, ['b.example']);
    expect(await read(240, 175)).toEqual([175, 115]);
  });

  it('is never read more than 30 minutes back if it fails at every other read', async () => {
    const { read, kept } = reads();
    const back: number[] = [];
    for (let minute = 1; minute <= 60; minute += 1) {
      const [, from = NaN] = await read(minute, minute - 6, minute % 2 === 0 ? ['b.example'] : []);
      back.push(minute - from);
    }
    expect(Math.max(...back)).toBeLessThan(30);
    expect(JSON.stringify(kept()).length).toBeLessThan(2_000);
  });

  it('is read from the start of an earlier outage for a watch whose last check was during that outage', async () => {
    const { read } = reads();
    await read(60, -5, ['b.example']);
    await read(70, 55);
    await read(80, 65, ['b.example']);
    await read(90, 75);
    expect(await read(120, 55)).toEqual([55, -5]);
    expect(await read(130, 85)).toEqual([85, 85]);
  });

  it('is read from the last read if its outage ends in the future, because our clock was set back', async () => {
    const { read } = reads();
    await read(10_000, 9_985, ['b.example']);
    expect(await read(60, 45)).toEqual([45, 45]);
  });

  it('is read from the outage that an earlier version stored', async () => {
    const outage = { from: minutes(-5).toISOString(), until: minutes(60).toISOString() };
    const { read } = reads(undefined, { instances: { 'b.example': outage } });
    expect(await read(120, 55)).toEqual([55, -5]);
    expect(await read(130, 85)).toEqual([85, 85]);
  });

  it('is read from the time of the first check if this first check failed', async () => {
    const { read, kept } = reads();
    expect(await read(0, undefined, ['b.example'])).toEqual([undefined, undefined]);
    expect(kept()).toEqual({});
    expect(await read(60, -5)).toEqual([-5, -5]);
  });

  it('is still read from the start of its outage after another watch has had its first check', async () => {
    const { read } = reads();
    await read(60, -5, ['b.example']);
    expect(await read(61, undefined)).toEqual([undefined, undefined]);
    expect(await read(120, 55)).toEqual([55, -5]);
  });
});

describe('an item that every watch has seen', () => {
  it.each([
    [['a.example'], true],
    [['a.example', 'b.example'], false],
  ])('can end the read of a server of %j: %s', async (hosts, ends) => {
    const { http } = fakeUpstream('lemmy', () => ({}));
    const context: FetchContext = fakeContext(http, { known: () => true });
    const known: boolean[] = [];
    await readInstances({ source: 'lemmy', hosts, own: 'a.example', context }, (_, reading) => {
      known.push(reading.known('one'));
      return Promise.resolve({ items: [], gap: false, warnings: [] });
    });
    expect(known).toEqual(hosts.map(() => ends));
  });
});
