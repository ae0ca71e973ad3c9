import { Controller, Get, Param, Query } from '@nestjs/common';
import { Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { ExploreReads } from '../../reads/explore-reads.js';
import { MentionReads, MENTIONS } from '../../reads/mention-reads.js';
import { cursorAfter, type ListCursor } from '../../reads/time-page.js';
import { mentionView } from '../mentions/mention-view.js';

/** Lists the items that an Explore found. Free. */
@Controller()
export class ExploreItemsController {
  constructor(
    private readonly explores: ExploreReads,
    private readonly mentions: MentionReads,
    private readonly cursors: Cursors,
  ) {}

  @Get('v1/explore/:id/items')
  async items(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const id = pathId(given, 'explore');
    const query = new QueryReader(raw);
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const explore = await this.explores.explore(accountId, id);
    if (!explore) throw Refusal.notFound('explore');
    const scope = { list: 'explore-items', accountId, id };
    const from = cursor === undefined ? undefined : this.cursors.read<ListCursor>(scope, cursor);
    const page = {
      since: explore.created_at,
      until: undefined,
      order: 'desc' as const,
      limit,
      after: from?.after,
    };
    const found = await this.mentions.explored(accountId, id, page);
    const next = cursorAfter(MENTIONS, found, page);
    return {
      data: found.slice(0, limit).map(mentionView),
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }
}
