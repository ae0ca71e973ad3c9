import { create } from '@bufbuild/protobuf';
import { SearchResetSchema, WatchSchema, type SearchReset, type Watch } from '#contracts';

/** The changes of a keyword's watches that follow from a change of its searches. */
export interface Reconciled {
  /** The watches that continue, and the new watches. */
  watches: Watch[];
  retiredWatchIds: string[];
  resets: SearchReset[];
}

/**
 * Assigns the searches of a keyword to its existing watches. A search whose criteria have not changed keeps its watch,
 * even if its interval changes. A search with changed criteria gets a new watch, whose first check reports nothing. The
 * watch of a removed search ends. The watches of a disabled source do not run, and its new searches get no watches.
 * @param planned a watch for each search, with the id that the watch gets if it is new
 */
export function reconcile(planned: readonly Watch[], previous: readonly Watch[]): Reconciled {
  const remaining = new Map(previous.map((watch) => [watch.watchId, watch]));
  const take = (fits: (watch: Watch) => boolean): Watch | undefined => {
    const found = [...remaining.values()].find(fits);
    if (found) remaining.delete(found.watchId);
    return found;
  };
  const sameSearch = (a: Watch) => (b: Watch) => a.source === b.source && a.searchId === b.searchId;
  const continued = new Map<Watch, Watch>();
  const restarted = new Map<Watch, Watch>();
  for (const watch of planned) {
    const before = take((one) => sameSearch(watch)(one) && one.criteriaHash === watch.criteriaHash);
    if (before) continued.set(watch, before);
  }
  for (const watch of planned) {
    const before = continued.has(watch) ? undefined : take(sameSearch(watch));
    if (before) restarted.set(watch, before);
  }
  for (const watch of planned) {
    // The same search under a new id: a user moved it into a list of searches or out of one, or sent it with another
    // id. (`withIds` keeps the id of a search that is sent without one.)
    const before =
      continued.has(watch) || restarted.has(watch)
        ? undefined
        : take((one) => one.source === watch.source && one.criteriaHash === watch.criteriaHash);
    if (before) continued.set(watch, before);
  }
  const resets: SearchReset[] = [];
  const watches = planned.flatMap((watch) => {
    const same = continued.get(watch);
    if (same) return [create(WatchSchema, { ...watch, watchId: same.watchId, backfill: same.backfill })];
    const before = restarted.get(watch);
    if (!before) return watch.disabled ? [] : [watch];
    resets.push(
      create(SearchResetSchema, {
        source: watch.source,
        searchId: watch.searchId,
        previousWatchId: before.watchId,
        watchId: watch.watchId,
      }),
    );
    // The first check of the new watch reports nothing: it only remembers the existing items.
    return [create(WatchSchema, { ...watch, backfill: false, firstScanCredits: 0 })];
  });
  return {
    watches,
    retiredWatchIds: [...remaining.keys(), ...[...restarted.values()].map(({ watchId }) => watchId)],
    resets,
  };
}
