import type { Database } from '#postgres';
import type { DueSearch } from './due-work.js';

/**
 * Returns which of these watches run. The other watches were paused, deleted or purged after they were claimed. Each
 * stage checks this once, because a watch can be paused or deleted while the stage waits:
 *
 * - due: `claimDue`, in its own statement. Otherwise a paused watch would occupy a place in the lane.
 * - read: `ReadRunner`, when the read begins. A read can wait more than a minute for the lane. Without this check, the
 *   upstream would be read although no watch needs it.
 * - record: `CheckRecorder`, as the last step before it appends. Otherwise the check would be charged to a paused
 *   keyword, or kept after a purge.
 */
export async function runningWatches(
  database: Database,
  watchIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows: { watch_id: string }[] = await database.query(
    'SELECT watch_id FROM watch_schedule WHERE watch_id = ANY($1) AND stopped IS NULL',
    [watchIds],
  );
  return new Set(rows.map((row) => row.watch_id));
}

/** Returns the searches that have running watches, each with only these watches. */
export async function runningSearches(
  database: Database,
  searches: readonly DueSearch[],
): Promise<DueSearch[]> {
  const running = await runningWatches(
    database,
    searches.flatMap(({ watches }) => watches.map(({ watchId }) => watchId)),
  );
  return searches.flatMap((search) => {
    const watches = search.watches.filter(({ watchId }) => running.has(watchId));
    return watches.length > 0 ? [{ ...search, watches }] : [];
  });
}
