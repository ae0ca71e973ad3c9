import { Controller, Get, Param, Query } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import type { KeywordEntity, WatchEntity } from '#postgres';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { CoverageReads } from '../../reads/coverage-reads.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { timelineOf } from './timeline.js';

const DAY_MS = 24 * 3_600_000;
const WINDOW_MS = DAY_MS;
/** ClickHouse keeps the checks of a search for this time. */
const MAX_WINDOW_MS = 90 * DAY_MS;

/** Shows which periods each search of a keyword has read, and which periods it has not read. Free. */
@Controller()
export class CoverageController {
  constructor(
    private readonly coverage: CoverageReads,
    private readonly keywords: KeywordReads,
  ) {}

  @Get(['v1/keywords/:id/coverage', 'v1/queries/:id/coverage'])
  async read(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const id = pathId(given, 'keyword');
    const query = new QueryReader(raw);
    const now = Date.now();
    const { from: requestedSince, to: until = new Date(now) } = query.window('since', 'until', WINDOW_MS);
    if (until.getTime() - requestedSince.getTime() > MAX_WINDOW_MS)
      query.fault('since', 'must be at most 90 days before until');
    query.finish();
    const keyword = await this.keywords.keyword(accountId, id);
    if (!keyword) throw Refusal.notFound('keyword');
    const { byWatch, missingBefore } = await this.coverage.runs(accountId, id, requestedSince, until);
    // `runs` reads only a limited number of runs. A time whose runs were not read would look as if no check was made, so
    // the answer begins after this time.
    const since = new Date(
      Math.min(Math.max(requestedSince.getTime(), missingBefore ?? -Infinity), until.getTime()),
    );
    const [lags, next, watches] = await Promise.all([
      this.coverage.lags(accountId, id, since, until),
      this.coverage.nextChecks(id),
      this.keywords.watchesOfKeywords([id]).then((found) => (found.get(id) ?? []).map(({ watch }) => watch)),
    ]);
    // A search that started over has had several watches.
    const searches = new Map<string, WatchEntity[]>();
    for (const watch of watches) {
      const searchId = watch.searchId ?? watch.watchId;
      searches.set(searchId, [...(searches.get(searchId) ?? []), watch]);
    }
    const data = [...searches].map(([searchId, all]) => {
      const watch = all.find(({ retiredAt }) => retiredAt === null);
      const nextCheckAt = watch && next.get(watch.watchId);
      const windows = timelineOf(
        {
          runs: all.flatMap(({ watchId }) => byWatch.get(watchId) ?? []).sort((a, b) => a.to - b.to),
          idle: idleReason(keyword, watch),
          nextCheckAt: nextCheckAt?.getTime(),
        },
        {
          since: Math.max(since.getTime(), Math.min(...all.map(({ createdAt }) => createdAt.getTime()))),
          until: until.getTime(),
          now,
        },
      );
      return {
        searchId,
        source: (watch ?? all[0])?.source,
        watchId: watch?.watchId ?? null,
        windows: windows.map((window) => ({ ...window, from: isoOf(window.from), to: isoOf(window.to) })),
        lagSeconds: lags.get(searchId) ?? null,
        nextCheckAt: nextCheckAt ? isoOf(nextCheckAt) : null,
      };
    });
    return { data, since: isoOf(since), until: isoOf(until) };
  }
}

/** Returns the reason why no check of the search is planned; undefined while the search runs. */
function idleReason(keyword: KeywordEntity, watch: WatchEntity | undefined): string | undefined {
  if (keyword.state === 'retired') return 'the keyword was deleted';
  if (!watch) return 'the search was removed from the keyword';
  if (watch.disabled) return 'the search is disabled in the keyword';
  if (keyword.state === 'paused') return `the keyword is paused: ${keyword.pausedReason ?? 'by a user'}`;
  return watch.isActive ? undefined : `the search is paused: ${watch.pausedReason ?? 'by a user'}`;
}
