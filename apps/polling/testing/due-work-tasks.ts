import { newId } from '#kernel';
import { until } from '#testing';
import { type PollingStores } from './polling-under-test.js';
import { failedCheck } from '../record/build-checks.js';
import { CheckRecorder } from '../record/check-recorder.js';
import { claimDue } from '../due/claim-due.js';
import { releaseLane, releaseSearches, settleIdle, type DueSearch, type DueWatch } from '../due/due-work.js';
import { UpstreamError } from '#sources';

/** Tests of how due searches are claimed and released, and how they get their next due time. */
export function dueWorkTasks(
  stores: () => PollingStores,
  recorder: () => CheckRecorder,
  claim: (watchId: string) => Promise<{ search: DueSearch; watch: DueWatch }>,
  begun: () => Promise<string>,
): void {
  describe('due work', () => {
    it('is claimed up to the limit, also if Postgres chooses a nested loop', async () => {
      const ids: string[] = [];
      for (const query of ['a', 'b', 'c']) ids.push(await stores().watch({ query }));
      await stores().due(...ids);
      const claimed = await stores().database.transaction(async (tx) => {
        // With the other query plans disabled, only a nested loop remains, which would run a subquery for every row.
        for (const way of ['hashjoin', 'mergejoin', 'hashagg', 'sort', 'material', 'indexscan', 'bitmapscan'])
          await tx.query(`SET LOCAL enable_${way} = off`);
        return claimDue(tx, 'hackernews:0', 2);
      });
      expect(claimed.length).toBe(2);
    });

    it('is claimed only once, the longest due first, and again after its release', async () => {
      const ids = [
        await stores().watch({ query: 'a' }),
        await stores().watch({ query: 'b' }),
        await stores().watch({ query: 'c' }),
      ];
      await stores().due(...ids);
      await stores().database.query(
        `UPDATE upstream_searches s SET next_due_at = now() - interval '1 hour' FROM watch_schedule w
       WHERE w.search_number = s.search_number AND w.watch_id = $1`,
        [ids[2]],
      );
      const first = await claimDue(stores().database, 'hackernews:0', 1);
      expect(first.map(({ watches }) => watches[0]?.watchId)).toEqual([ids[2]]);
      expect((await claimDue(stores().database, 'hackernews:0', 10)).length).toBe(2);
      expect(await claimDue(stores().database, 'hackernews:0', 10)).toEqual([]);
      expect(await claimDue(stores().database, 'rss:0', 10)).toEqual([]);
      await releaseSearches(stores().database, first);
      expect(
        (await claimDue(stores().database, 'hackernews:0', 10)).map(({ searchKey }) => searchKey),
      ).toEqual(first.map(({ searchKey }) => searchKey));
    });

    it('is claimed even if one search has more due watches than one query can have parameters', async () => {
      const ids = [await stores().watch({ query: 'a' }), await stores().watch({ query: 'b' })];
      await stores().due(...ids);
      await stores().database.query(
        `INSERT INTO watch_schedule (watch_id, search_number, account_number, interval_seconds, due_second)
         SELECT gen_random_uuid(), search_number, account_number, interval_seconds, due_second - n % 2
         FROM watch_schedule, generate_series(1, 130000) AS n WHERE watch_id = $1`,
        [ids[1]],
      );
      const claimed = await claimDue(stores().database, 'hackernews:0', 2);
      expect(claimed.map(({ watches }) => watches.length)).toEqual([130_001, 1]);
    });

    it('is claimed although the criteria of a search contain a field of a newer release', async () => {
      const ids = [await stores().watch({ query: 'a' }), await stores().watch({ query: 'b' })];
      await stores().due(...ids);
      await stores().database.query(
        `UPDATE upstream_searches s SET criteria = criteria || '{"fieldOfNewerRelease": 1}' FROM watch_schedule w
         WHERE w.search_number = s.search_number AND w.watch_id = $1`,
        [ids[0]],
      );
      const claimed = await claimDue(stores().database, 'hackernews:0', 10);
      expect(claimed.map(({ criteria }) => criteria.query).sort()).toEqual(['a', 'b']);
    });

    it('names the account of each watch if two accounts share a search', async () => {
      const accounts = [newId(), newId()];
      const ids: string[] = [];
      for (const accountId of accounts) ids.push(await stores().watch({ accountId }));
      await stores().due(...ids);
      const [search] = await claimDue(stores().database, 'hackernews:0', 10);
      expect(new Map(search?.watches.map(({ watchId, accountId }) => [watchId, accountId]))).toEqual(
        new Map(ids.map((id, n) => [id, accounts[n]])),
      );
    });

    it('is released when its lane moves, without a write to searches that nobody has claimed', async () => {
      const ids = [await stores().watch({ query: 'a' }), await stores().watch({ query: 'b' })];
      await stores().due(...ids);
      const claimed = await claimDue(stores().database, 'hackernews:0', 1);
      const versions = async () => {
        const rows: { search_key: string; version: string }[] = await stores().database.query(
          'SELECT search_key, xmin::text AS version FROM upstream_searches',
        );
        return new Map(rows.map((row) => [row.search_key, row.version]));
      };
      const before = await versions();
      await releaseLane(stores().database, 'hackernews:0');
      const after = await versions();
      const written = [...after.keys()].filter((key) => after.get(key) !== before.get(key));
      expect(written).toEqual(claimed.map(({ searchKey }) => searchKey));
      expect(await claimDue(stores().database, 'hackernews:0', 10)).toHaveLength(2);
    });

    it('is never claimed twice at the same time', async () => {
      const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => stores().watch({ query: `q${n}` })));
      await stores().due(...ids);
      const claims = await Promise.all(
        Array.from({ length: 6 }, () => claimDue(stores().database, 'hackernews:0', 7)),
      );
      const keys = claims.flat().map(({ searchKey }) => searchKey);
      expect(new Set(keys).size).toBe(keys.length);
    });

    it('contains the due watches of a search, but not watches that are paused or not due', async () => {
      const due = await stores().watch();
      await stores().watch();
      const paused = await stores().watch();
      await stores().change(paused, { isActive: false });
      await stores().due(due, paused);
      const [search] = await claimDue(stores().database, 'hackernews:0', 10);
      expect(search?.watches.map(({ watchId }) => watchId)).toEqual([due]);
    });

    it.each([
      [
        'gets its next due time without a check',
        (_: string, { search }: { search: DueSearch }) => settleIdle(stores().database, [search]),
      ],
      [
        'fails without a request',
        async (_: string, { search, watch }: { search: DueSearch; watch: DueWatch }) => {
          const parts = [
            failedCheck(search, watch, new UpstreamError('timeout', 'late'), undefined, new Date()),
          ];
          await recorder().record([{ search, watch, parts: () => parts }], [], true);
        },
      ],
    ])('includes a watch that joins a search while the search %s', async (_, endOf) => {
      const claimed = await claim(await begun());
      const key = claimed.search.searchKey;
      await stores().database.query('UPDATE watch_schedule SET stopped = true WHERE watch_id = $1', [
        claimed.watch.watchId,
      ]);
      const runner = stores().database.createQueryRunner();
      await runner.startTransaction();
      await runner.query(
        "UPDATE upstream_searches SET next_due_at = now() - interval '1 second' WHERE search_key = $1",
        [key],
      );
      const ended = endOf(key, claimed);
      await until('a transaction waits for the search', async () => {
        const rows: unknown[] = await stores().database.query('SELECT 1 FROM pg_locks WHERE NOT granted');
        return rows.length > 0;
      });
      await runner.query(
        `INSERT INTO watch_schedule (watch_id, search_number, account_number, interval_seconds, due_second)
       SELECT gen_random_uuid(), search_number, account_number, 600, second_of(now())
       FROM watch_schedule WHERE watch_id = $1`,
        [claimed.watch.watchId],
      );
      await runner.commitTransaction();
      await runner.release();
      await ended;
      expect((await claimDue(stores().database, 'hackernews:0', 10)).length).toBe(1);
    });

    it('is not claimed again before a watch resumes, if all watches of the search are paused', async () => {
      const id = await stores().watch();
      await stores().change(id, { isActive: false });
      await stores().due(id);
      const [idle] = await claimDue(stores().database, 'hackernews:0', 10);
      await settleIdle(stores().database, idle ? [idle] : []);
      expect(await claimDue(stores().database, 'hackernews:0', 10)).toEqual([]);
      await stores().change(id, { isActive: true });
      expect((await claimDue(stores().database, 'hackernews:0', 10)).length).toBe(1);
    });
  });
}
