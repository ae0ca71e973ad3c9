import type { Database } from '#postgres';
import type { MatchedSourceItem } from './new-items.js';
import type { DueSearch } from '../due/due-work.js';

const NOTHING: ReadonlySet<string> = new Set();

/** Returns a function that returns which of the matched items a watch has already reported or remembered. */
export async function seenItemsOf(
  database: Database,
  searches: readonly DueSearch[],
  matched: ReadonlyMap<string, readonly MatchedSourceItem[]>,
): Promise<(watchId: string) => ReadonlySet<string>> {
  const watchIds = searches.flatMap((search) => search.watches.map((watch) => watch.watchId));
  const itemIds = [
    ...new Set([...matched.values()].flatMap((found) => found.map(({ item }) => item.itemId))),
  ];
  if (itemIds.length === 0) return () => NOTHING;
  // The ids are joined. With `item_id = ANY($2)`, a statement that was prepared while the table was small would compare
  // each row with each id: 0.5 s for 3,000 rows and 3,000 ids.
  const rows: { watch_id: string; item_id: string; stale: boolean }[] = await database.query(
    `SELECT s.watch_id, s.item_id, s.seen_at < now() - make_interval(days => $3) AS stale
     FROM unnest($2::text[]) AS i (item_id) JOIN seen_items s USING (item_id) WHERE s.watch_id = ANY($1)`,
    [watchIds, itemIds, REFRESH_DAYS],
  );
  if (rows.some(({ stale }) => stale)) await refresh(database, watchIds, itemIds);
  const seen = new Map<string, Set<string>>();
  for (const row of rows) {
    const ofWatch = seen.get(row.watch_id);
    if (ofWatch) ofWatch.add(row.item_id);
    else seen.set(row.watch_id, new Set([row.item_id]));
  }
  return (watchId) => seen.get(watchId) ?? NOTHING;
}

/**
 * If the upstream returns an item again after this number of days, the item is marked as seen again, so that
 * `pruneSeenItems` does not delete it.
 */
const REFRESH_DAYS = 30;

async function refresh(
  database: Database,
  watchIds: readonly string[],
  itemIds: readonly string[],
): Promise<void> {
  await database.query(
    `UPDATE seen_items s SET seen_at = w.covered_until FROM watch_schedule w, unnest($2::text[]) AS i (item_id)
     WHERE s.watch_id = w.watch_id AND s.watch_id = ANY($1) AND s.item_id = i.item_id
       AND s.seen_at < now() - make_interval(days => $3) AND s.seen_at < w.covered_until`,
    [watchIds, itemIds, REFRESH_DAYS],
  );
}

const KEPT_DAYS = 120;

/**
 * Deletes items that were last marked as seen more than `KEPT_DAYS` before the last successful check of their watch.
 * Items of feeds are kept: an unchanged feed is not read, and its oldest articles can reappear with the next change.
 */
export async function pruneSeenItems(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM seen_items s USING watch_schedule w, upstream_searches u
     WHERE w.watch_id = s.watch_id AND u.search_number = w.search_number AND u.source <> 'rss'
       AND s.seen_at < w.covered_until - make_interval(days => $1)`,
    [KEPT_DAYS],
  );
}

/** A connector stops paging at an item only if the item is one of this number of latest items of each watch. */
const MAX_LATEST_ITEMS = 1000;

/**
 * Returns a function that returns whether every due watch of the search has seen an item in a completely stored check.
 * Everything older than such an item has been read, so a connector stops paging at such an item.
 */
export async function seenByAll(database: Database, search: DueSearch): Promise<(itemId: string) => boolean> {
  const watchIds = search.watches.map((watch) => watch.watchId);
  if (search.watches.some((watch) => watch.baselineAt === undefined)) return () => false;
  const rows: { item_id: string }[] = await database.query(
    `SELECT s.item_id FROM watch_schedule w
       CROSS JOIN LATERAL (SELECT item_id FROM seen_items
         WHERE watch_id = w.watch_id AND seen_at <= w.covered_until ORDER BY seen_at DESC LIMIT $3) s
     WHERE w.watch_id = ANY($1) GROUP BY s.item_id HAVING count(*) = $2`,
    [watchIds, watchIds.length, MAX_LATEST_ITEMS],
  );
  const known = new Set(rows.map((row) => row.item_id));
  return (itemId) => known.has(itemId);
}
