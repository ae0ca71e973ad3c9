import { Controller, Get, Param, Query } from '@nestjs/common';
import { isoFromClickHouse, type AnswerRow } from '#clickhouse';
import { storedCriteria } from '#criteria';
import { derivedId, isoOf, Refusal } from '#kernel';
import type { WatchEntity } from '#postgres';
import { brandDomainsOf, brandsOf, readBrands } from '#sources';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { AnswerReads, ANSWERS } from '../../reads/answer-reads.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { cursorAfter, type ListCursor } from '../../reads/time-page.js';

const ENGINES = ['openai', 'anthropic', 'perplexity', 'gemini'] as const;
const WINDOW_MS = 90 * 24 * 3_600_000;
const MAX_BRANDS = 20;

/**
 * Lists the stored answers of AI engines. Each answer has the positions of the requested brands. If none are requested,
 * it has the positions of the brands of the search. Free.
 */
@Controller()
export class AnswersController {
  constructor(
    private readonly answers: AnswerReads,
    private readonly keywords: KeywordReads,
    private readonly cursors: Cursors,
  ) {}

  @Get(['v1/keywords/:id/answers', 'v1/queries/:id/answers'])
  async ofKeyword(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const keywordId = pathId(given, 'keyword');
    if (!(await this.keywords.keyword(accountId, keywordId))) throw Refusal.notFound('keyword');
    const reads = (await this.keywords.watchesOfKeywords([keywordId])).get(keywordId) ?? [];
    return this.page(
      { accountId, keywordId },
      reads.map(({ watch }) => watch),
      raw,
    );
  }

  @Get('v1/ai_answers/watches/:id/answers')
  async ofWatch(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const watchId = pathId(given, 'watch');
    const read = await this.keywords.watch(accountId, 'ai_answers', watchId);
    if (!read) throw Refusal.notFound('watch');
    return this.page({ accountId, watchId }, [read.watch], raw);
  }

  private async page(
    owner: { accountId: string; keywordId?: string; watchId?: string },
    watches: readonly WatchEntity[],
    raw: RawQuery,
  ) {
    const query = new QueryReader(raw);
    const brands = query.all('brand');
    if (brands.length > MAX_BRANDS) query.fault('brand', `at most ${MAX_BRANDS} brands at once`);
    if (brands.some((brand) => brand.trim() === '')) query.fault('brand', 'must contain the name of a brand');
    const engines = query.all('engine', ENGINES);
    const { from: requestedSince, to: until } = query.window('since', 'until', WINDOW_MS);
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = {
      list: 'answers',
      ...owner,
      engines,
      since: raw.since ?? null,
      until: raw.until ?? null,
    };
    const from = cursor === undefined ? undefined : this.cursors.read<ListCursor>(scope, cursor);
    const since = from ? new Date(from.since) : requestedSince;
    const page = { since, until, order: 'desc' as const, limit, after: from?.after };
    const rows = await this.answers.answers({ ...owner, engines }, page);
    const next = cursorAfter(ANSWERS, rows, page);
    const byId = new Map(watches.map((watch) => [watch.watchId, watch]));
    return {
      data: rows.slice(0, limit).map((row) => answerView(row, brands, byId.get(row.watch_id))),
      since: isoOf(since),
      ...(next ? { nextCursor: this.cursors.write(scope, next) } : {}),
    };
  }
}

/**
 * Returns an answer with the positions of the requested brands. If the request names no brands, the answer has the
 * positions of the search's own brands.
 */
function answerView(row: AnswerRow, requested: readonly string[], watch: WatchEntity | undefined) {
  const criteria = watch && storedCriteria(watch.criteria);
  const brands = requested.length > 0 ? requested : criteria ? brandsOf(criteria) : [];
  const citations = JSON.parse(row.citations) as { url: string; title: string }[];
  return {
    id: derivedId('answer', row.check_id, row.engine),
    watchId: row.watch_id,
    engine: row.engine,
    model: row.model,
    prompt: row.prompt,
    market: row.market,
    answeredAt: isoFromClickHouse(row.answered_at),
    text: row.text,
    citations,
    queries: row.queries,
    brands: readBrands(row.text, citations, brands, criteria ? brandDomainsOf(criteria) : {}),
  };
}
