import type { Database, Tx } from '#postgres';
import type { Covered } from '../domain/coverage.js';
import type { AlertRule } from './alert-rules.js';
import type { BinCount } from './counted-series.js';
import type { Window } from './windows.js';

/**
 * The search of a row `c`. A row from the time when the search had no id has the id of its watch. If the search has an id
 * now, because a user moved it into a list of searches, its history continues.
 */
const SEARCH_ID = 'COALESCE(w.search_id, c.search_id)';
const ITS_WATCH = 'LEFT JOIN watches w ON w.watch_id = c.search_id';

/** Reads the counts and the covered times of keywords. */
export class MentionHistory {
  constructor(private readonly database: Database | Tx) {}

  /**
   * Returns the counts of several keywords, by keyword, the earliest first. Each keyword has its own first instant.
   * @param since first instant of each keyword, in ms
   */
  async recent(since: ReadonlyMap<string, number>): Promise<Map<string, BinCount[]>> {
    const rows: { keyword_id: string; search_id: string; bin: Date; total: number; negative: number }[] =
      await this.database.query(
        `SELECT c.keyword_id, ${SEARCH_ID} AS search_id, c.bin, sum(c.total)::int AS total, sum(c.negative)::int AS negative
         FROM unnest($1::uuid[], $2::timestamptz[]) AS k (keyword_id, since)
         JOIN mention_counts c ON c.keyword_id = k.keyword_id AND c.bin >= k.since ${ITS_WATCH}
         GROUP BY 1, 2, 3 ORDER BY c.bin`,
        [[...since.keys()], [...since.values()].map((at) => new Date(at))],
      );
    const counts = new Map<string, BinCount[]>();
    for (const { keyword_id, search_id, bin, total, negative } of rows) {
      const count = { searchId: search_id, at: bin.getTime(), total, negative };
      const known = counts.get(keyword_id);
      if (known) known.push(count);
      else counts.set(keyword_id, [count]);
    }
    return counts;
  }

  /** Returns the number of mentions in each window, by search. A search without mentions in a window is missing. */
  async countsIn(
    keywordId: string,
    windows: readonly Window[],
    negative: boolean,
  ): Promise<ReadonlyMap<string, number>[]> {
    const counts = windows.map(() => new Map<string, number>());
    const rows: { n: number; search_id: string; count: number }[] = await this.database.query(
      `SELECT p.n, ${SEARCH_ID} AS search_id, sum(${negative ? 'c.negative' : 'c.total'})::int AS count
       FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS p (since, until, n)
       JOIN mention_counts c ON c.keyword_id = $1 AND c.bin >= p.since AND c.bin < p.until ${ITS_WATCH} GROUP BY 1, 2`,
      [keywordId, windows.map(({ from }) => new Date(from)), windows.map(({ to }) => new Date(to))],
    );
    for (const { n, search_id, count } of rows) counts[n - 1]?.set(search_id, count);
    return counts;
  }

  /** Returns the covered times of each search of a keyword, the earliest first. */
  async coverageOf(keywordId: string): Promise<Map<string, Covered[]>> {
    const rows: { search_id: string; covered_from: Date; covered_to: Date }[] = await this.database.query(
      `SELECT ${SEARCH_ID} AS search_id, c.covered_from, c.covered_to FROM search_coverage c ${ITS_WATCH}
       WHERE c.keyword_id = $1 ORDER BY 1, 2`,
      [keywordId],
    );
    const covered = new Map<string, Covered[]>();
    for (const { search_id, covered_from, covered_to } of rows) {
      const one = { from: covered_from.getTime(), to: covered_to.getTime() };
      const known = covered.get(search_id);
      if (known) known.push(one);
      else covered.set(search_id, [one]);
    }
    return covered;
  }

  /** Returns the event ids of at most 5 mentions of a window that count for the rule, the newest first. */
  async examplesOf(
    keywordId: string,
    { condition }: AlertRule,
    { from, to }: Window,
    searches: readonly string[],
  ): Promise<string[]> {
    const rows: { event_id: string }[] = await this.database.query(
      `SELECT c.event_id FROM counted_mentions c ${ITS_WATCH}
       WHERE c.keyword_id = $1 AND c.counted_at >= $2 AND c.counted_at < $3
         AND ${SEARCH_ID} = ANY ($4) AND (c.negative OR NOT $5::boolean)
       ORDER BY c.counted_at DESC, c.event_id LIMIT ${MAX_EXAMPLES}`,
      [keywordId, new Date(from), new Date(to), searches, condition.kind === 'sentiment_shift'],
    );
    return rows.map((row) => row.event_id);
  }
}

const MAX_EXAMPLES = 5;
