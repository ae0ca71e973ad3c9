import { Controller, Get, Query } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { readMentionFilter } from '../../reads/mention-filter.js';
import {
  MentionReads,
  SERIES_BUCKETS,
  SERIES_GROUPS,
  TOP_FIELDS,
  type SeriesRequest,
  type SeriesRow,
} from '../../reads/mention-reads.js';

const BUCKET_SECONDS = { hour: 3600, day: 86_400 } as const;
/** The default window before `until`, by bucket. */
const WINDOW_MS = { hour: 86_400_000, day: 30 * 86_400_000 } as const;
/** Maximum number of buckets of each group in a response: one bucket for each hour of 100 days. */
const MAX_BUCKETS = 2400;
/** Maximum number of rows in a response: the buckets of all groups. */
const MAX_ROWS = 50_000;

/** Counts mentions over time, and by author, community or matched term, for charts. Free. */
@Controller()
export class MentionSeriesController {
  constructor(private readonly mentions: MentionReads) {}

  @Get('v1/mentions/series')
  async series(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const bucket = query.one('bucket', SERIES_BUCKETS) ?? 'day';
    const group = query.one('group', SERIES_GROUPS);
    const { from: since, to: until = new Date() } = query.window('since', 'until', WINDOW_MS[bucket]);
    if (since > until) query.fault('since', 'must not be later than until');
    const filter = readMentionFilter(query, { buckets: false });
    const starts = bucketsOf(since, until, BUCKET_SECONDS[bucket]);
    if (starts.length > MAX_BUCKETS)
      query.fault(
        'since',
        `begins too early: a response has at most ${MAX_BUCKETS} buckets; choose a later time, or bucket=day`,
      );
    query.finish();
    const series: SeriesRequest = { since, until, bucket, group };
    const rows = await this.mentions.series(accountId, filter, series);
    return { data: withEmptyBuckets(rows, starts), bucket, since: isoOf(since), until: isoOf(until) };
  }

  /** Returns the authors, communities or matched terms with the most mentions. */
  @Get('v1/mentions/top')
  async top(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const by = query.one('by', TOP_FIELDS) ?? 'author';
    const limit = query.integer('limit', 1, 100, 10);
    const { from: since, to: until = new Date() } = query.window('since', 'until', WINDOW_MS.day);
    if (since > until) query.fault('since', 'must not be later than until');
    const filter = readMentionFilter(query);
    query.finish();
    const data = await this.mentions.top(accountId, filter, { by, since, until, limit });
    return { data, by, since: isoOf(since), until: isoOf(until) };
  }
}

/**
 * Returns the starts of the buckets that overlap the window, in seconds since 1970, UTC: at most one start more than
 * `MAX_BUCKETS`.
 */
function bucketsOf(since: Date, until: Date, seconds: number): number[] {
  const first = Math.floor(since.getTime() / 1000 / seconds);
  const last = Math.ceil(until.getTime() / 1000 / seconds);
  return Array.from({ length: Math.min(last - first, MAX_BUCKETS + 1) }, (_, n) => (first + n) * seconds);
}

/**
 * Returns every bucket of every group, including empty buckets.
 * @throws Refusal `invalid` if there are more than `MAX_ROWS` of them
 */
function withEmptyBuckets(rows: readonly SeriesRow[], starts: readonly number[]) {
  const groups = [...new Set(rows.map(({ group }) => group))].sort();
  if (groups.length === 0) groups.push('');
  if (groups.length * starts.length > MAX_ROWS)
    throw Refusal.validation([
      {
        path: 'since',
        message: `${groups.length} groups of ${starts.length} buckets are too many; a response has at most ${MAX_ROWS} rows: choose a later time, or add filters`,
      },
    ]);
  const counts = new Map(rows.map(({ at, group, count }) => [`${at} ${group}`, count]));
  return starts.flatMap((at) =>
    groups.map((group) => ({
      at: isoOf(at * 1000),
      group: group === '' ? null : group,
      count: counts.get(`${at} ${group}`) ?? 0,
    })),
  );
}
