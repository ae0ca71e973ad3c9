import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { WatchSchema, type Watch } from '#contracts';
import { reconcile } from './reconcile.js';

const watch = (
  watchId: string,
  searchId: string,
  criteriaHash: string,
  more: { intervalSeconds?: number; backfill?: boolean; disabled?: boolean; firstScanCredits?: number } = {},
) =>
  create(WatchSchema, {
    watchId,
    source: 'rss',
    searchId,
    criteriaHash,
    intervalSeconds: 600,
    backfill: true,
    firstScanCredits: 1,
    ...more,
  });
const ids = (watches: readonly Watch[]) => watches.map(({ watchId }) => watchId);

describe('the watches of a keyword whose searches change', () => {
  it('continue with the new interval if the criteria are the same', () => {
    const before = watch('old', 's', 'a');
    const { watches, retiredWatchIds, resets } = reconcile(
      [watch('new', 's', 'a', { intervalSeconds: 60, backfill: false })],
      [before],
    );
    expect(watches).toEqual([{ ...before, intervalSeconds: 60 }]);
    expect([retiredWatchIds, resets]).toEqual([[], []]);
  });

  it('start over without a backfill if the criteria have changed [states.started-over-silently]', () => {
    const { watches, retiredWatchIds, resets } = reconcile(
      [watch('new', 's', 'b')],
      [watch('old', 's', 'a')],
    );
    expect(watches).toEqual([watch('new', 's', 'b', { backfill: false, firstScanCredits: 0 })]);
    expect(retiredWatchIds).toEqual(['old']);
    expect(resets).toMatchObject([{ source: 'rss', searchId: 's', previousWatchId: 'old', watchId: 'new' }]);
  });

  it('continue if the same search has a new id', () => {
    const { watches, resets } = reconcile([watch('new', 'other', 'a')], [watch('old', '', 'a')]);
    expect(watches).toMatchObject([{ watchId: 'old', searchId: 'other' }]);
    expect(resets).toEqual([]);
  });

  it('start over if the criteria of two searches are exchanged', () => {
    const { watches, resets } = reconcile(
      [watch('new 1', 's1', 'b'), watch('new 2', 's2', 'a')],
      [watch('old 1', 's1', 'a'), watch('old 2', 's2', 'b')],
    );
    expect(ids(watches)).toEqual(['new 1', 'new 2']);
    expect(resets).toHaveLength(2);
  });

  it('are disabled if their source is disabled, and continue if the source is enabled again', () => {
    const off = reconcile([watch('n1', 's', 'a', { disabled: true })], [watch('old', 's', 'a')]);
    expect(off.watches).toMatchObject([{ watchId: 'old', disabled: true }]);
    const on = reconcile([watch('n2', 's', 'a')], off.watches);
    expect(on.watches).toMatchObject([{ watchId: 'old', disabled: false }]);
    expect([off.retiredWatchIds, on.retiredWatchIds, on.resets]).toEqual([[], [], []]);
  });

  it('start over without a backfill if the criteria have changed while the source was disabled', () => {
    const off = reconcile([watch('new', 's', 'b', { disabled: true })], [watch('old', 's', 'a')]);
    expect(off.watches).toEqual([
      watch('new', 's', 'b', { disabled: true, backfill: false, firstScanCredits: 0 }),
    ]);
    expect(off.resets).toMatchObject([{ previousWatchId: 'old', watchId: 'new' }]);
    const on = reconcile([watch('n2', 's', 'b')], off.watches);
    expect(on.watches).toMatchObject([{ watchId: 'new', backfill: false, disabled: false }]);
  });

  it('do not start on a disabled source', () => {
    expect(reconcile([watch('new', 's', 'a', { disabled: true })], []).watches).toEqual([]);
  });

  const searches = fc
    .uniqueArray(
      fc.record({
        searchId: fc.constantFrom('s1', 's2', 's3', 's4'),
        hash: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      }),
      {
        selector: ({ searchId }) => searchId,
      },
    )
    // A keyword cannot contain the same search twice.
    .filter((all) => new Set(all.map(({ hash }) => hash)).size === all.length);

  it('match the searches one to one: a search starts over only if its criteria have changed', () => {
    fc.assert(
      fc.property(searches, searches, (before, now) => {
        const previous = before.map(({ searchId, hash }) => watch(`old ${searchId}`, searchId, hash));
        const planned = now.map(({ searchId, hash }) => watch(`new ${searchId}`, searchId, hash));
        const { watches, retiredWatchIds, resets } = reconcile(planned, previous);
        expect(watches.map(({ searchId, criteriaHash }) => [searchId, criteriaHash])).toEqual(
          now.map(({ searchId, hash }) => [searchId, hash]),
        );
        expect(new Set(ids(watches)).size).toBe(watches.length);
        const kept = ids(watches).filter((id) => id.startsWith('old'));
        expect([...kept, ...retiredWatchIds].sort()).toEqual(ids(previous).sort());
        for (const { searchId, hash } of now) {
          const same = before.find((one) => one.searchId === searchId);
          const is = watches.find((one) => one.searchId === searchId);
          if (same?.hash === hash) expect(is?.watchId).toBe(`old ${searchId}`);
          const reset = resets.find((one) => one.searchId === searchId);
          expect(reset !== undefined).toBe(same !== undefined && same.hash !== hash);
        }
      }),
    );
  });

  it('stay unchanged if nothing has changed', () => {
    fc.assert(
      fc.property(searches, (now) => {
        const previous = now.map(({ searchId, hash }) => watch(`old ${searchId}`, searchId, hash));
        const planned = now.map(({ searchId, hash }) => watch(`new ${searchId}`, searchId, hash));
        expect(reconcile(planned, previous)).toEqual({ watches: previous, retiredWatchIds: [], resets: [] });
      }),
    );
  });
});
