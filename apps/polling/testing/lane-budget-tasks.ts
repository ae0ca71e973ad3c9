import { newId } from '#kernel';
import { until } from '#testing';
import { workerOn } from './polling-under-test.js';
import { idsOf, type LaneScene } from './lane-scene.js';

/** Tests of a lane that does not have enough places or requests for all searches. */
export function laneBudgetTasks(scene: LaneScene): void {
  const { tick, settled } = scene;

  describe('the work on a lane', () => {
    it('reads for other accounts while all servers of one account are slow, and reads the slow servers in the end', async () => {
      await scene.worker.stop();
      let answer = () => {};
      scene.upstream.slowServers = new Promise((resolve) => (answer = resolve));
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      scene.worker.start();
      const accountId = newId();
      const slow: string[] = [];
      for (let n = 0; n < 30; n++) slow.push(await scene.stores.watch({ accountId, query: `slow ${n}` }));
      const quick = await scene.stores.watch({ query: 'quick' });
      await scene.stores.due(...slow);
      await until('the lane is full', async () => scene.upstream.states.length >= 4);
      await scene.stores.due(...slow, quick);
      await until('a check of the other account', async () => (await scene.stores.checksOf(quick))[0]);
      // At most 16 slow reads, and one read in each of the lane's four places.
      expect(scene.upstream.states.length - 1).toBeLessThanOrEqual(20);
      answer();
      for (const id of slow)
        await until('a check of each slow search', async () => (await scene.stores.checksOf(id))[0], 30_000);
    });

    it('finishes the running read when the worker is stopped, and starts no other read', async () => {
      let open = () => {};
      scene.upstream.gate = new Promise((resolve) => (open = resolve));
      const id = await scene.stores.watch();
      await scene.stores.due(id);
      await until('the read is running', () => scene.upstream.requests.length === 1);
      const stopped = scene.worker.stop();
      open();
      await stopped;
      expect((await scene.stores.checksOf(id)).length).toBe(1);
      await scene.stores.due(id);
      expect(scene.upstream.requests.length).toBe(1);
    });

    it('serves due searches from the feed while many searches are read one by one', async () => {
      await scene.worker.stop();
      scene.upstream.hasFeed = true;
      scene.upstream.answerMs = 50;
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      scene.worker.start();
      const fed = await scene.stores.watch({ query: 'fed' });
      await tick(fed);
      await settled(fed);
      const ids = await Promise.all(
        Array.from({ length: 100 }, (_, n) => scene.stores.watch({ query: `q${n}` })),
      );
      const requestsBefore = scene.upstream.requests.length;
      await scene.stores.due(...ids);
      await until('the reads have begun', () => scene.upstream.requests.length > requestsBefore);
      scene.upstream.publish('hn:1', 'fed');
      expect(idsOf((await tick(fed))[0])).toEqual(['hn:1']);
      expect(scene.upstream.requests.length - requestsBefore).toBeLessThan(ids.length);
    });

    it('claims no more searches than its budget can read, and releases them when the worker is stopped', async () => {
      await scene.worker.stop();
      scene.upstream.requestsPerMinute = 6;
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      const ids = await Promise.all(
        Array.from({ length: 30 }, (_, n) => scene.stores.watch({ query: `q${n}` })),
      );
      await scene.stores.due(...ids);
      const claimed = async () => {
        const rows: { claimed: number }[] = await scene.stores.database.query(
          'SELECT count(*)::int AS claimed FROM upstream_searches WHERE leased_until > now()',
        );
        return rows[0]?.claimed ?? 0;
      };
      scene.worker.start();
      await until('the budget is used up', () => scene.upstream.requests.length === 1);
      expect(await until('searches wait', async () => (await claimed()) <= 10 && claimed())).toBeGreaterThan(
        1,
      );
      const began = Date.now();
      await scene.worker.stop();
      expect(Date.now() - began).toBeLessThan(2000);
      expect([await claimed(), scene.upstream.requests.length]).toEqual([0, 1]);
    });

    it('does not exceed its budget of requests', async () => {
      await scene.worker.stop();
      scene.upstream.requestsPerMinute = 600;
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      const ids = await Promise.all(
        Array.from({ length: 110 }, (_, n) => scene.stores.watch({ query: `q${n}` })),
      );
      await scene.stores.due(...ids);
      scene.worker.start();
      await until('every search was read', () => scene.upstream.requests.length === ids.length);
      const [first = 0] = scene.upstream.requests;
      // The lane can send a burst of 100 requests (as many as in ten seconds), and then 10 requests per second.
      expect((scene.upstream.requests[109] ?? 0) - first).toBeGreaterThanOrEqual(890);
    });
  });
}
