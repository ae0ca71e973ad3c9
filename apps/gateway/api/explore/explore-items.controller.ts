import { Controller, Get, Param, Query } from '@nestjs/common';
import type { MentionRow } from '#clickhouse';
import { Refusal } from '#kernel';
import { compile, type Matcher } from '#matching';
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
    const matcher = compile([{ key: id, mode: 'word', terms: explore.terms }]);
    return {
      data: found.slice(0, limit).map((row) => ({
        ...mentionView(row),
        // A source searches in its own way, so it can return items without any of the terms.
        matchedTerms: termsIn(row, matcher),
      })),
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }
}

function termsIn({ title, text, title_of_parent: titleOfParent }: MentionRow, matcher: Matcher): string[] {
  const found = matcher.match({ title, text, titleOfParent }).flatMap(({ matches }) => matches);
  return [...new Set(found.map(({ term }) => term))];
}
