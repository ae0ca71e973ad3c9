import type { Database } from '#postgres';
import type { MatchedAnswer } from './build-checks.js';
import type { DueSearch } from './due-work.js';

const NOTHING: ReadonlySet<string> = new Set();

/** For each watch of the searches, which of the matched items it has been told of, or has remembered. */
export async function seenItemsOf(
  database: Database,
  searches: readonly DueSearch[],
  matched: ReadonlyMap<string, readonly MatchedAnswer[]>,
): Promise<(watchId: string) => ReadonlySet<string>> {
  const watchIds = searches.flatMap((search) => search.watches.map((watch) => watch.watchId));
  const itemIds = [
    ...new Set([...matched.values()].flatMap((found) => found.map(({ item }) => item.itemId))),
  ];
  if (itemIds.length === 0) return () => NOTHING;
  const rows: { watch_id: string; item_id: string }[] = await database.query(
    'SELECT watch_id, item_id FROM seen_items WHERE watch_id = ANY($1) AND item_id = ANY($2)',
    [watchIds, itemIds],
  );
  const seen = new Map<string, Set<string>>();
  for (const row of rows) {
    const ofWatch = seen.get(row.watch_id);
    if (ofWatch) ofWatch.add(row.item_id);
    else seen.set(row.watch_id, new Set([row.item_id]));
  }
  return (watchId) => seen.get(watchId) ?? NOTHING;
}

/** How many of the latest items a connector is told about, to know where to stop paging. */
const LATEST = 1000;

/** Tells of an item whether every watch that waits for the search has seen it. */
export async function seenByAll(database: Database, search: DueSearch): Promise<(itemId: string) => boolean> {
  const watchIds = search.watches.map((watch) => watch.watchId);
  if (search.watches.some((watch) => watch.baselineAt === undefined)) return () => false;
  const rows: { item_id: string }[] = await database.query(
    `SELECT item_id FROM (SELECT item_id, max(seen_at) AS at, count(*) AS watches FROM seen_items
       WHERE watch_id = ANY($1) GROUP BY item_id) i WHERE watches = $2 ORDER BY at DESC LIMIT $3`,
    [watchIds, watchIds.length, LATEST],
  );
  const known = new Set(rows.map((row) => row.item_id));
  return (itemId) => known.has(itemId);
}
