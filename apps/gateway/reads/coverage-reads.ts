import { Inject, Injectable } from '@nestjs/common';
import { NO_ID, selectRows, type ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE, DATABASE } from '#platform';
import type { Database } from '#postgres';
import { clickHouseTime } from './time-page.js';

/** Consecutive checks of one watch with the same outcome. Times in ms. */
export interface CheckRun {
  outcome: 'covered' | 'gap' | 'failed';
  /** Beginning of the first check's period; the time of the first check if it failed. */
  from: number;
  /** End of the last check's period; the time of the last check if it failed. */
  to: number;
  /** Message of the last check. */
  message: string;
  checks: number;
}

/** The time between the publication of a search's mentions and the moment when they were found, in seconds. */
export interface Lag {
  p50: number;
  p95: number;
}

interface RunRow {
  watch_id: string;
  outcome: CheckRun['outcome'];
  run_from: string;
  run_to: string;
  last_message: string;
  checks: number;
  place: number;
}

/** The runs of a keyword's watches. */
export interface KeywordRuns {
  /** The runs of each watch, oldest first. */
  byWatch: ReadonlyMap<string, readonly CheckRun[]>;
  /** The time in ms before which runs are missing; undefined if no run is missing. */
  missingBefore: number | undefined;
}

/** Maximum number of runs of one keyword that are read. Older runs are left out. */
export const MAX_RUNS = 5000;

const DAY_MS = 24 * 3_600_000;

/** Finds out how completely the searches of a keyword were read, from the activity, the mentions and the schedule. */
@Injectable()
export class CoverageReads {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /**
   * Returns consecutive checks of each watch with the same outcome; at most the newest `MAX_RUNS`, and for each watch
   * also the run before them. A timeline needs that run to know since when the source could not be read.
   */
  async runs(accountId: string, keywordId: string, since: Date, until: Date): Promise<KeywordRuns> {
    // ClickHouse combines the checks into runs: a month with a check every 30 s has 86,400 checks but few runs.
    // Checks of the day after the window are read too, because such a check can have read the end of the window. The
    // runs that do not concern the window are left out before the newest runs are selected.
    const rows = await selectRows<RunRow>(
      this.clickhouse,
      `SELECT watch_id, outcome, run_from, run_to, last_message, checks, place
       FROM (
         SELECT *, lagInFrame(place) OVER (PARTITION BY watch_id ORDER BY place
           ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS place_of_next
         FROM (
           SELECT *, toUInt32(row_number() OVER (ORDER BY run_to DESC, watch_id, run DESC)) AS place
           FROM (
             SELECT *, lagInFrame(run_to) OVER (PARTITION BY watch_id ORDER BY run
               ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS previous_to
             FROM (
               SELECT watch_id, run, any(kind) AS outcome, toUnixTimestamp64Milli(min(start)) AS run_from,
                 toUnixTimestamp64Milli(max(end)) AS run_to, argMax(message, occurred_at) AS last_message,
                 toUInt32(uniqExact(activity_id)) AS checks
               FROM (
                 SELECT *, sum(changed) OVER (PARTITION BY watch_id ORDER BY occurred_at, activity_id) AS run
                 FROM (
                   SELECT watch_id, occurred_at, activity_id, message,
                     multiIf(type = 'poll.failed', 'failed', gap, 'gap', 'covered') AS kind,
                     coalesce(window_from, window_to, occurred_at) AS start, coalesce(window_to, occurred_at) AS end,
                     toUInt8(kind != lagInFrame(kind, 1, '') OVER (PARTITION BY watch_id ORDER BY occurred_at, activity_id
                       ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS changed
                   FROM activity
                   WHERE account_id = {accountId: UUID} AND keyword_id = {keywordId: UUID}
                     AND occurred_at >= {since: DateTime64(3, 'UTC')} AND occurred_at < {readUntil: DateTime64(3, 'UTC')}
                     AND type IN ('poll.completed', 'poll.failed')
                 )
               )
               GROUP BY watch_id, run
             )
           )
           WHERE run_from < {until: Int64} OR previous_to < {until: Int64}
         )
       )
       WHERE place <= {max: UInt32} OR place_of_next <= {max: UInt32} ORDER BY place`,
      {
        accountId,
        keywordId,
        since: clickHouseTime(since),
        readUntil: clickHouseTime(new Date(until.getTime() + DAY_MS)),
        until: until.getTime(),
        max: MAX_RUNS,
      },
    );
    const newestMissing = rows.find(({ place }) => place > MAX_RUNS);
    const byWatch = new Map<string, CheckRun[]>();
    for (const { watch_id, outcome, run_from, run_to, last_message, checks } of rows.reverse()) {
      const run = { outcome, from: Number(run_from), to: Number(run_to), message: last_message, checks };
      byWatch.set(watch_id, [...(byWatch.get(watch_id) ?? []), run]);
    }
    return { byWatch, missingBefore: newestMissing && Number(newestMissing.run_to) };
  }

  /**
   * Returns the lag of each search, by its id; by the id of its watch if the search has no id. Backfilled mentions, and
   * mentions without a publication time, are not counted.
   */
  async lags(accountId: string, keywordId: string, since: Date, until: Date): Promise<Map<string, Lag>> {
    const rows = await selectRows<{ search: string; lag: [number, number] }>(
      this.clickhouse,
      `SELECT if(search_id = {noId: UUID}, watch_id, search_id) AS search,
         quantiles(0.5, 0.95)(greatest(0, toUnixTimestamp64Milli(occurred_at) - toUnixTimestamp64Milli(assumeNotNull(published_at)))) AS lag
       FROM mentions FINAL
       WHERE account_id = {accountId: UUID} AND keyword_id = {keywordId: UUID} AND NOT backfilled
         AND published_at IS NOT NULL AND occurred_at >= {since: DateTime64(3, 'UTC')}
         AND occurred_at < {until: DateTime64(3, 'UTC')}
       GROUP BY search`,
      { accountId, keywordId, noId: NO_ID, since: clickHouseTime(since), until: clickHouseTime(until) },
    );
    return new Map(rows.map(({ search, lag: [p50, p95] }) => [search, { p50: p50 / 1000, p95: p95 / 1000 }]));
  }

  /** Returns when the next check of each running watch is due, by the id of the watch. */
  async nextChecks(keywordId: string): Promise<Map<string, Date>> {
    const rows = await this.database.query<{ watch_id: string; next_due_at: Date }[]>(
      `SELECT watch_id, time_of(due_second) AS next_due_at FROM watch_schedule
       WHERE keyword_id = $1 AND stopped IS NULL`,
      [keywordId],
    );
    return new Map(rows.map((row) => [row.watch_id, row.next_due_at]));
  }
}
