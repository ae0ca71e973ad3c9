import { Controller, Get, Param, Query } from '@nestjs/common';
import type { ActivityRow } from '#clickhouse';
import { SOURCE_IDS } from '#contracts';
import { Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { ACTIVITY, activityRecord, ActivityReads } from '../../reads/activity-reads.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { cursorAfter, type ListCursor, type TimePage } from '../../reads/time-page.js';
import { sourceOf } from '../watches/watches.controller.js';

const WINDOW_MS = 7 * 24 * 3_600_000;

/** The activity of a keyword or a watch. Free. */
@Controller()
export class ActivityController {
  constructor(
    private readonly activity: ActivityReads,
    private readonly keywords: KeywordReads,
    private readonly cursors: Cursors,
  ) {}

  @Get(['v1/keywords/:id/activity', 'v1/queries/:id/activity'])
  async ofKeyword(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const id = pathId(given, 'keyword');
    if (!(await this.keywords.keyword(accountId, id))) throw Refusal.notFound('keyword');
    const query = new QueryReader(raw);
    const source = query.one('source', SOURCE_IDS);
    return this.page(query, raw, { accountId, id, source: source ?? null }, (page) =>
      this.activity.ofKeyword(accountId, id, source, page),
    );
  }

  @Get('v1/:source/watches/:id/activity')
  async ofWatch(
    @From() { accountId }: Caller,
    @Param('source') source: string,
    @Param('id') given: string,
    @Query() raw: RawQuery,
  ) {
    const id = pathId(given, 'watch');
    const read = await this.keywords.watch(accountId, sourceOf(source), id);
    if (!read) throw Refusal.notFound('watch');
    return this.page(new QueryReader(raw), raw, { accountId, id }, (page) =>
      this.activity.ofWatch(accountId, read.watch, page),
    );
  }

  /** @param owner the keyword or watch of the activity; a cursor is valid only for the same owner */
  private async page(
    query: QueryReader,
    raw: RawQuery,
    owner: Record<string, string | null>,
    read: (page: TimePage) => Promise<ActivityRow[]>,
  ) {
    const requestedSince = query.instant('since');
    const limit = query.integer('limit', 1, 500, 100);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'activity', ...owner, since: raw.since ?? null };
    const from = cursor === undefined ? undefined : this.cursors.read<ListCursor>(scope, cursor);
    const since = from ? new Date(from.since) : (requestedSince ?? new Date(Date.now() - WINDOW_MS));
    const page = { since, until: undefined, order: 'desc' as const, limit, after: from?.after };
    const rows = await read(page);
    const next = cursorAfter(ACTIVITY, rows, page);
    return {
      activity: rows.slice(0, limit).map(activityRecord),
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }
}
