import { toBinary } from '@bufbuild/protobuf';
import { CheckSchema } from '#contracts';
import { subjectOf } from '#messaging';
import { until } from '#testing';
import { priced, workerOn } from './polling-under-test.js';
import { completedCheck } from '../record/build-checks.js';
import { claimDue } from '../due/claim-due.js';
import { idsOf, type LaneScene } from './lane-scene.js';

/** Tests of upstreams that fail, of checks that cannot be stored, and of a killed process. */
export function laneFaultTasks(scene: LaneScene): void {
  const { tick, settled } = scene;

  describe('the work on a lane', () => {
    it('postpones a search whose checks cannot be recorded, and does not read the upstream again and again', async () => {
      await scene.worker.stop();
      const { worker: other, recorder } = workerOn(scene.upstream, scene.stores);
      scene.worker = other;
      let attempts = 0;
      recorder.record = () => Promise.reject(new Error(`attempt ${(attempts += 1)}`));
      scene.worker.start();
      const id = await scene.stores.watch();
      await scene.stores.due(id);
      await until('the check could not be recorded twice', () => attempts === 2);
      await settled(id);
      expect(scene.upstream.requests.length).toBe(2);
      const rows: { late: boolean }[] = await scene.stores.database.query(
        `SELECT time_of(due_second) > now() + interval '2 s' AS late FROM watch_schedule WHERE watch_id = $1`,
        [id],
      );
      expect(rows).toEqual([{ late: true }]);
    });

    it('reports the source as unhealthy if a check cannot be stored, although the read succeeded', async () => {
      await scene.worker.stop();
      const { worker: other, recorder, learned } = workerOn(scene.upstream, scene.stores);
      scene.worker = other;
      const record = recorder.record.bind(recorder);
      recorder.record = (checks, ...rest) =>
        record(
          checks.map((one) => ({
            ...one,
            parts: () => one.parts().map((part) => ({ ...part, itemsSeen: 1.5 })),
          })),
          ...rest,
        );
      scene.worker.start();
      const [check] = await tick(await scene.stores.watch());
      expect(check?.failure?.kind).toBe('unknown_shape');
      const trouble = await until('the trouble is stored', () => learned.at(-1)?.trouble || undefined);
      expect(trouble).toBe('hackernews returned something that could not be stored');
    });

    it('records free, failed checks while the feed is frozen, and later reports what the feed hid', async () => {
      await scene.worker.stop();
      Object.assign(scene.upstream, { hasFeed: true, quietSeconds: 0.02 });
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      scene.worker.start();
      const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
      scene.upstream.publish('hn:1', 'acme', minutesAgo(52));
      const id = await scene.stores.watch();
      const next = async () => {
        const [check] = await tick(id);
        await settled(id);
        return check;
      };
      await next();
      await scene.stores.database.query(
        'UPDATE watch_schedule SET baseline_at = $2, covered_until = $2 WHERE watch_id = $1',
        [id, minutesAgo(50)],
      );
      const frozen = await until('the feed counts as frozen', async () => {
        const check = await next();
        return check?.failure && check;
      });
      expect(frozen.failure).toMatchObject({
        kind: 'frozen',
        reason: expect.stringContaining('hackernews responds, but has shown nothing new'),
      });
      expect([frozen.costCredits, frozen.items.length]).toEqual([0, 0]);
      // As in a long freeze, a whole read of the feed now costs more than the search.
      scene.upstream.feedPages = Infinity;
      expect((await next())?.failure?.kind).toBe('frozen');
      scene.upstream.publish('hn:before the watch', 'acme', minutesAgo(51));
      scene.upstream.publish('hn:hidden', 'acme', minutesAgo(30));
      scene.upstream.publish('hn:2');
      const found = await next();
      expect([idsOf(found), found?.rememberedItemIds]).toEqual([
        ['hn:hidden', 'hn:2'],
        ['hn:before the watch'],
      ]);
    });

    it('records a free, failed check with its reason, and sends nothing before Retry-After has passed [credits.failed-check]', async () => {
      const ids = [
        await scene.stores.watch({ intervalSeconds: 1 }),
        await scene.stores.watch({ query: 'other', intervalSeconds: 1 }),
      ];
      scene.upstream.failure = { status: 429, headers: { 'retry-after': '2' } };
      const failed = await tick(...ids);
      for (const check of failed) {
        expect(check).toMatchObject({
          costCredits: 0,
          items: [],
          windowTo: '',
          failure: { kind: 'rate_limited' },
        });
        expect(Date.parse(check.failure?.retryAt ?? '')).toBeGreaterThan(Date.now());
      }
      scene.upstream.failure = undefined;
      const lastRefused = Math.max(...scene.upstream.requests);
      const requestsBefore = scene.upstream.requests.length;
      scene.upstream.publish('hn:1');
      await until(
        'the lane sends requests again',
        () => scene.upstream.requests.length > requestsBefore,
        8000,
      );
      expect((scene.upstream.requests[requestsBefore] ?? 0) - lastRefused).toBeGreaterThanOrEqual(2000);
      const healed = await until('a successful check', async () =>
        (await scene.stores.checksOf(ids[0] ?? '')).find((check) => !check.failure),
      );
      expect([healed.baseline, healed.costCredits]).toEqual([true, 1]);
    });

    it('loses no item of a failed check’s window', async () => {
      const id = await scene.stores.watch();
      await tick(id);
      await settled(id);
      scene.upstream.publish('hn:1');
      scene.upstream.failure = { status: 403 };
      expect((await tick(id))[0]?.failure?.kind).toBe('forbidden');
      await settled(id);
      scene.upstream.failure = undefined;
      scene.upstream.publish('hn:2');
      expect(idsOf((await tick(id))[0])).toEqual(['hn:1', 'hn:2']);
    });

    it('loses no item if the process is killed after it has stored the first part of a check', async () => {
      const id = await scene.stores.watch();
      await tick(id);
      await settled(id);
      await scene.worker.stop();
      for (const item of ['hn:1', 'hn:2']) scene.upstream.publish(item, `acme ${'x'.repeat(300 * 1024)}`);
      await scene.stores.due(id);
      const [search] = await claimDue(scene.stores.database, 'hackernews:0', 1);
      const watch = search?.watches[0];
      if (!search || !watch) throw new Error('nothing was due');
      const matched = scene.upstream.items.map((item) => ({ item, matches: [] }));
      const fetched = { items: scene.upstream.items, gap: false, warnings: [] };
      const answer = {
        kind: 'read' as const,
        fetched,
        state: {},
        readAt: new Date(),
        windowFrom: undefined,
        clockAheadMs: 0,
      };
      const [part] = completedCheck(priced(search, watch), answer, matched, new Set(), new Date());
      if (!part) throw new Error('no part');
      const subject = subjectOf('CHECKS', watch.accountId, id);
      await scene.stores.store.append(
        subject,
        toBinary(CheckSchema, part),
        watch.checkSeq,
        `${part.checkId}:1`,
      );
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      scene.worker.start();
      await settled(id);
      const [next] = await tick(id);
      expect([idsOf(part), idsOf(next)]).toEqual([['hn:1'], ['hn:2']]);
    });
  });
}
