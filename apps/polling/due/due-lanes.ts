import type { Database } from '#postgres';
import { SharedQuery } from './shared-query.js';

/** Returns a query for the lanes that have due searches without a claim. */
export function dueLanes(database: Database): SharedQuery {
  return new SharedQuery(async (lanes) => {
    // With EXISTS, Postgres can read all due searches of all lanes. With the limit, it reads one search of each lane.
    const rows: { lane: string }[] = await database.query(
      `SELECT l.lane FROM unnest($1::text[]) AS l (lane) CROSS JOIN LATERAL (SELECT FROM upstream_searches s
         WHERE s.lane = l.lane AND s.next_due_at <= now() AND (s.leased_until IS NULL OR s.leased_until < now())
         ORDER BY s.next_due_at LIMIT 1) AS due`,
      [lanes],
    );
    return rows.map(({ lane }) => lane);
  });
}

/** Returns the milliseconds until the next multiple of `everyMs`, so that all lanes query at the same moment. */
export function untilNextQuery(everyMs: number): number {
  return everyMs - (Date.now() % everyMs);
}
