import type { Database } from '#postgres';
import type { DueSearch } from './due-work.js';

/**
 * Returns which of these watches are still to be checked. The others were paused, deleted or purged since they were
 * claimed. Each stage asks once, because each takes time in which that can happen:
 *
 * | stage | asked by | without the question |
 * |---|---|---|
 * | due | `claimDue`, in its own statement | a paused watch would take a place in the lane |
 * | read | `LaneWorker`, when the read begins: it may have waited a minute for the lane | the upstream would be asked for nobody |
 * | record | `CheckRecorder`, as the last step before it appends | the check would be charged to a paused keyword, or kept after a purge |
 */
export async function runningWatches(
  database: Database,
  watchIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows: { watch_id: string }[] = await database.query(
    'SELECT watch_id FROM watch_schedule WHERE watch_id = ANY($1) AND is_active',
    [watchIds],
  );
  return new Set(rows.map((row) => row.watch_id));
}

/** Searches with their running watches; a search without any is left out. */
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
