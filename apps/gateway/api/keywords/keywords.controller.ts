import { Controller, Get, Param, Query } from '@nestjs/common';
import { SOURCE_IDS } from '#contracts';
import { From } from '../../auth/caller.js';
import type { Caller } from '../../auth/api-keys.js';
import { Cursors } from '../../http/cursor.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { KeywordViews } from './keyword-views.js';

const STATES = ['active', 'paused', 'retired'] as const;

/** Reads keywords. The resource has two names: keywords and queries. */
@Controller()
export class KeywordsController {
  constructor(
    private readonly reads: KeywordReads,
    private readonly views: KeywordViews,
    private readonly cursors: Cursors,
  ) {}

  @Get(['v1/keywords', 'v1/queries'])
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const filter = {
      states: query.all('state', STATES),
      sources: query.all('source', SOURCE_IDS),
      name: query.one('q'),
    };
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'keywords', accountId, filter };
    const before = cursor === undefined ? undefined : this.cursors.read<{ id: string }>(scope, cursor).id;
    const found = await this.reads.keywords(accountId, filter, limit, before);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      data: await this.views.ofAll(page),
      ...(found.length > limit && last
        ? { nextCursor: this.cursors.write(scope, { id: last.keywordId }) }
        : {}),
    };
  }

  @Get(['v1/keywords/:id', 'v1/queries/:id'])
  read(@From() { accountId }: Caller, @Param('id') id: string) {
    return this.views.of(accountId, id);
  }
}
