import { describe, expect, it } from 'vitest';
import { UpstreamError, type UpstreamErrorKind } from '#sources';
import { Upstream } from '../polling-under-test.js';
import { Lane } from './lane.js';

function laneOn(upstream: Upstream): Lane {
  return new Lane({
    name: 'hackernews:0',
    connector: upstream.connector,
    baseUrl: undefined,
    http: upstream.http,
    lanes: 1,
    blockedUntil: new Date(0),
    failures: 0,
    remember: () => Promise.resolve(),
  });
}

const faultOf = (kind: UpstreamErrorKind) => new UpstreamError(kind, kind);

describe('a lane whose searches fail', () => {
  it.each(['forbidden', 'truncated', 'unknown_shape'] as const)(
    'waits when three in a row are answered %s, not when one is, however often',
    async (kind) => {
      const lane = laneOn(new Upstream());
      const failed = (key: string) => lane.failed(faultOf(kind), key);
      for (const key of ['a', 'a', 'a', 'b']) expect(await failed(key)).toBeUndefined();
      await lane.succeeded();
      for (const key of ['c', 'd']) expect(await failed(key)).toBeUndefined();
      expect(lane.blockedForMs).toBe(0);
      expect((await failed('e'))?.getTime()).toBeGreaterThan(Date.now());
      expect([lane.blockedForMs > 0, lane.isProbing]).toEqual([true, true]);
    },
  );

  it('waits at once after an outage, and never because of one search that is not there', async () => {
    const lane = laneOn(new Upstream());
    for (const key of ['a', 'b', 'c', 'd'])
      expect(await lane.failed(faultOf('not_found'), key)).toBeUndefined();
    expect(await lane.failed(faultOf('server_error'), 'a')).toBeInstanceOf(Date);
  });
});

describe('a lane that is stopped', () => {
  it('ends the wait for its budget, and sends nothing', async () => {
    const upstream = new Upstream();
    upstream.requestsPerMinute = 1;
    const lane = laneOn(upstream);
    const request = { url: 'https://upstream.example.org/' };
    await lane.http.request(request);
    const waiting = lane.http.request(request);
    lane.stop();
    await expect(waiting).rejects.toMatchObject({ name: 'LaneBlocked' });
    await expect(lane.http.request(request)).rejects.toMatchObject({ name: 'LaneBlocked' });
    expect(upstream.requests.length).toBe(1);
  });
});
