import type { Database, Tx } from '#postgres';
import type { Covered } from '../domain/coverage.js';
import type { AlertRule } from './alert-rules.js';
import type { BinCount } from './counted-series.js';
import type { Window } from './windows.js';

/** The watch of a row `c`, after `itsWatch`. */
const WATCH_ID = 'COALESCE(w.watch_id, c.search_id)';

/**
 * Returns SQL that finds the watch of rows from earlier releases, which stored the id of the search, if it had one. Such a
 * row belongs to the watch that has this search now, but not if the row is from before the watch was created: the search
 * possibly had other criteria then. If two sources have a search with this id, the row cannot be assigned.
 * @param at the time of a row: a column of `c`
 */
const itsWatch = (at: string) =>
  `LEFT JOIN watches w ON w.keyword_id = c.keyword_id AND w.search_id = c.search_id AND w.retired_at IS NULL
     AND w.created_at < c.${at} AND NOT EXISTS (SELECT 1 FROM watches o WHERE o.keyword_id = w.keyword_id
       AND o.search_id = w.search_id AND o.source <> w.source AND o.retired_at IS NULL)`;

/** Reads the counts and the covered times of keywords. */
export class MentionHistory {
  constructor(private readonly database: Database | Tx) {}

  /**
   * Returns the counts of several keywords, by keyword, the earliest first. Each keyword has its own first instant.
   * @param since first instant of each keyword, in ms
   */
  async recent(since: ReadonlyMap<string, number>): Promise<Map<string, BinCount[]>> {
    const rows: { keyword_id: string; watch_id: string; bin: Date; total: number; negative: number }[] =
      await this.database.query(
        // OFFSET makes Postgres read each keyword by its index. Otherwise it reads the whole tables.
        `SELECT k.keyword_id, n.* FROM unnest($1::uuid[], $2::timestamptz[]) AS k (keyword_id, since), LATERAL (
           SELECT ${WATCH_ID} AS watch_id, c.bin, sum(c.total)::int AS total, sum(c.negative)::int AS negative
           FROM mention_counts c ${itsWatch('bin')}
           WHERE c.keyword_id = k.keyword_id AND c.bin >= k.since GROUP BY 1, 2 OFFSET 0) AS n
         ORDER BY n.bin`,
        [[...since.keys()], [...since.values()].map((at) => new Date(at))],
      );
    const counts = new Map<string, BinCount[]>();
    for (const { keyword_id, watch_id, bin, total, negative } of rows) {
      const count = { watchId: watch_id, at: bin.getTime(), total, negative };
      const known = counts.get(keyword_id);
      if (known) known.push(count);
      else counts.set(keyword_id, [count]);
    }
    return counts;
  }

  /** Returns the number of mentions in each window, by watch. A watch without mentions in a window is missing. */
  async countsIn(
    keywordId: string,
    windows: readonly Window[],
    negative: boolean,
  ): Promise<ReadonlyMap<string, number>[]> {
    const counts = windows.map(() => new Map<string, number>());
    const rows: { n: number; watch_id: string; count: number }[] = await this.database.query(
      `SELECT p.n, ${WATCH_ID} AS watch_id, sum(${negative ? 'c.negative' : 'c.total'})::int AS count
       FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS p (since, until, n)
       JOIN mention_counts c ON c.keyword_id = $1 AND c.bin >= p.since AND c.bin < p.until ${itsWatch('bin')} GROUP BY 1, 2`,
      [keywordId, windows.map(({ from }) => new Date(from)), windows.map(({ to }) => new Date(to))],
    );
    for (const { n, watch_id, count } of rows) counts[n - 1]?.set(watch_id, count);
    return counts;
  }

  /** Returns the covered times of each watch of a keyword, the earliest first. */
  async coverageOf(keywordId: string): Promise<Map<string, Covered[]>> {
    const rows: { watch_id: string; covered_from: Date; covered_to: Date }[] = await this.database.query(
      `SELECT ${WATCH_ID} AS watch_id, GREATEST(c.covered_from, w.created_at) AS covered_from, c.covered_to
       FROM search_coverage c ${itsWatch('covered_to')}
       WHERE c.keyword_id = $1 ORDER BY 1, 2`,
      [keywordId],
    );
    const covered = new Map<string, Covered[]>();
    for (const { watch_id, covered_from, covered_to } of rows) {
      const one = { from: covered_from.getTime(), to: covered_to.getTime() };
      const known = covered.get(watch_id);
      if (known) known.push(one);
      else covered.set(watch_id, [one]);
    }
    return covered;
  }

  /** Returns the event ids of at most 5 mentions of a window that count for the rule, the newest first. */
  async examplesOf(
    keywordId: string,
    { condition }: AlertRule,
    { from, to }: Window,
    watchIds: readonly string[],
  ): Promise<string[]> {
    const rows: { event_id: string }[] = await this.database.query(
      `SELECT c.event_id FROM counted_mentions c ${itsWatch('counted_at')}
       WHERE c.keyword_id = $1 AND c.counted_at >= $2 AND c.counted_at < $3
         AND ${WATCH_ID} = ANY ($4) AND (c.negative OR NOT $5::boolean)
       ORDER BY c.counted_at DESC, c.event_id LIMIT ${MAX_EXAMPLES}`,
      [keywordId, new Date(from), new Date(to), watchIds, condition.kind === 'sentiment_shift'],
    );
    return rows.map((row) => row.event_id);
  }
}

const MAX_EXAMPLES = 5;
