import { Controller, Get, Param, Query } from '@nestjs/common';
import { SOURCE_IDS } from '#contracts';
import { Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { ACTIVITY, activityRecord, ActivityReads } from '../../reads/activity-reads.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { cursorAfter, type ListCursor } from '../../reads/time-page.js';

const WINDOW_MS = 7 * 24 * 3_600_000;

/** What a keyword did. Free. */
@Controller()
export class ActivityController {
  constructor(
    private readonly activity: ActivityReads,
    private readonly keywords: KeywordReads,
    private readonly cursors: Cursors,
  ) {}

  @Get(['v1/keywords/:id/activity', 'v1/queries/:id/activity'])
  async list(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const id = pathId(given, 'keyword');
    if (!(await this.keywords.keyword(accountId, id))) throw Refusal.notFound('keyword');
    const query = new QueryReader(raw);
    const asked = query.instant('since');
    const source = query.one('source', SOURCE_IDS);
    const limit = query.integer('limit', 1, 500, 100);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'activity', accountId, id, source: source ?? null, since: raw.since ?? null };
    const from = cursor === undefined ? undefined : this.cursors.read<ListCursor>(scope, cursor);
    const since = from ? new Date(from.since) : (asked ?? new Date(Date.now() - WINDOW_MS));
    const page = { since, until: undefined, order: 'desc' as const, limit, after: from?.after };
    const rows = await this.activity.ofKeyword(accountId, id, source, page);
    const next = cursorAfter(ACTIVITY, rows, page);
    return {
      activity: rows.slice(0, limit).map(activityRecord),
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }
}
