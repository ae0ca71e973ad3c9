import { newId } from '#kernel';
import { fundAccount, until } from '#testing';
import type { LookupScene } from './lookup-scene.js';

/** Tests of lookups that the upstream counts separately from the searches, or together with them. */
export function lookupBudgetTasks(scene: LookupScene): void {
  const { ask, refusalOf } = scene;

  describe('a direct lookup', () => {
    it.each([
      [429, { 'retry-after': '600' }],
      [503, { 'retry-after': '600' }],
      [429, {}],
    ] as const)(
      'is refused for a time after its kind got the status %i with %j; other lookups and the searches continue',
      async (status, headers) => {
        await scene.restart({ lookupsApart: { requestsPerMinute: 600, burst: 10 } });
        scene.upstream.failure = { status, headers };
        expect(await refusalOf(ask('user'))).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
        scene.upstream.failure = undefined;
        const requestsBefore = scene.upstream.requests.length;
        expect((await refusalOf(ask('user')))?.message).toMatch(/try again in \d+ s; nothing was charged$/);
        expect([scene.upstream.requests.length, scene.lane.budget.blockedForMs]).toEqual([requestsBefore, 0]);
        expect((await ask('tweets')).found).toBe(2);
      },
    );

    it('does not wait for checks if lookups have a limit of their own; eight lookups are sent at the same time', async () => {
      scene.upstream.requestsPerMinute = 30;
      await scene.restart({ lookupsApart: { requestsPerMinute: 20, burst: 60 } });
      let answer = () => {};
      scene.upstream.gate = new Promise((resolve) => (answer = resolve));
      // The checks use up the burst of requests that the lane allows.
      const checks = Array.from({ length: 20 }, () =>
        scene.lane.http.request({ url: 'https://upstream.example.org/' }),
      );
      void Promise.allSettled(checks);
      await until('the checks wait for their turn', () => scene.upstream.requests.length === 5);
      const asking = Array.from({ length: 8 }, () => ask());
      await until('all eight are sent', () => scene.upstream.requests.length >= 13, 1_500);
      answer();
      expect((await Promise.all(asking)).map(({ found }) => found)).toEqual(Array(8).fill(2));
      scene.lane.stop();
    });

    it('is refused while two lookups of its account wait, but the lookup of another account is answered', async () => {
      // One request a second, after a burst of one.
      await scene.restart({ lookupsApart: { requestsPerMinute: 60, burst: 1 } });
      const other = newId();
      await fundAccount(scene.stores.database, other, 100);
      const asking = Array.from({ length: 10 }, () => refusalOf(ask()));
      await Promise.race(asking);
      const ofOther = ask('tweets', 60_000, newId(), other);
      const refused = (await Promise.all(asking)).filter((refusal) => refusal !== undefined);
      // On a slow machine, one more request gets its turn meanwhile.
      expect(refused.length).toBeGreaterThanOrEqual(5);
      for (const refusal of refused)
        expect(refusal).toEqual({
          kind: 'unavailable',
          code: 'UNAVAILABLE',
          message: 'no request to x can be sent at the moment; try again later; nothing was charged',
        });
      expect((await ofOther).found).toBe(2);
    });

    it('is sent while the searches wait if lookups have a limit of their own', async () => {
      await scene.restart({ lookupsApart: { requestsPerMinute: 20, burst: 60 } });
      scene.lane.http.holdOff({ waitMs: 600_000, reason: 'the limit of x is used up' });
      expect(scene.lane.budget.blockedForMs).toBeGreaterThan(500_000);
      expect((await ask()).found).toBe(2);
    });

    it('makes the whole lane wait after a 429 if lookups count with the searches', async () => {
      scene.upstream.failure = { status: 429, headers: { 'retry-after': '600' } };
      expect(await refusalOf(ask('user'))).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
      scene.upstream.failure = undefined;
      expect(scene.lane.budget.blockedForMs).toBeGreaterThan(590_000);
      expect(await refusalOf(ask('tweets'))).toMatchObject({
        message: expect.stringContaining('x answered 429 and asked to wait'),
      });
      expect(scene.upstream.requests.length).toBe(1);
    });
  });
}
