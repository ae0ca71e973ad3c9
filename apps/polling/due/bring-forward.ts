import type { Database } from '#postgres';
import { lockSearches } from './due-work.js';

/** Maximum number of watches that are changed in one transaction. */
const TOGETHER = 1000;
/** The next check of a watch is less than two intervals ahead (`nextDue`). */
const FAR_INTERVALS = 3;
/** Added to the intervals: a smaller difference between the clocks of two replicas causes no further checks. */
const FAR_SECONDS = 600;
/**
 * Ahead of the clocks of Postgres and of polling ($1): if polling's clock stays ahead, each next check is ahead of
 * Postgres. After a failed check, a watch can wait for a day, because its source asks for this time. Such a watch stays.
 */
const IS_FAR = `w.stopped IS NULL
  AND time_of(w.due_second) > GREATEST(now(), $1) + make_interval(secs => ${FAR_INTERVALS} * w.interval_seconds + ${FAR_SECONDS})
  AND (w.failed_at IS NULL OR w.failed_at > GREATEST(now(), $1) + make_interval(secs => ${FAR_SECONDS}))`;

/**
 * Makes watches due whose next check is too far ahead. The reason is a clock that was ahead at the last check, and was
 * set back later.
 * @param now the time of polling's clock
 */
export async function bringForwardFar(database: Database, now: Date): Promise<void> {
  for (let found = TOGETHER; found === TOGETHER;)
    found = await database.transaction(async (tx) => {
      const far: { watch_id: string; search_key: string }[] = await tx.query(
        `SELECT w.watch_id, s.search_key FROM watch_schedule w JOIN upstream_searches s USING (search_number)
         WHERE ${IS_FAR} LIMIT ${TOGETHER}`,
        [now],
      );
      if (far.length === 0) return 0;
      const searches = [...new Set(far.map(({ search_key }) => search_key))];
      await lockSearches(tx, searches);
      // Before the lock, another replica can have checked a watch.
      await tx.query(
        `UPDATE watch_schedule w SET due_second = second_of(now()) WHERE w.watch_id = ANY($2) AND ${IS_FAR}`,
        [now, far.map(({ watch_id }) => watch_id)],
      );
      await tx.query(
        'UPDATE upstream_searches SET next_due_at = LEAST(next_due_at, now()) WHERE search_key = ANY($1)',
        [searches],
      );
      return far.length;
    });
}
