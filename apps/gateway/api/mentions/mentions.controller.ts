import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { readMentionFilter } from '../../reads/mention-filter.js';
import { EVENTS, MentionReads, MENTIONS } from '../../reads/mention-reads.js';
import { cursorAfter, type ListCursor } from '../../reads/time-page.js';
import { StreamPositions } from '../stream/stream-positions.js';
import { sourceOf } from '../watches/watches.controller.js';
import { mentionView, whyView } from './mention-view.js';
import { SemanticPages } from './semantic-page.js';

const HOUR_MS = 3_600_000;
const MENTIONS_WINDOW_MS = 24 * HOUR_MS;
const RESULTS_WINDOW_MS = 30 * 24 * HOUR_MS;
const EVENTS_WINDOW_MS = 7 * 24 * HOUR_MS;

/** The routes that read mentions and events. They are free, except `mode=semantic`. */
@Controller()
export class MentionsController {
  constructor(
    private readonly mentions: MentionReads,
    private readonly keywords: KeywordReads,
    private readonly cursors: Cursors,
    private readonly semantic: SemanticPages,
    private readonly positions: StreamPositions,
  ) {}

  @Get('v1/mentions')
  list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    return this.page(accountId, undefined, raw, MENTIONS_WINDOW_MS);
  }

  @Get(['v1/keywords/:id/results', 'v1/queries/:id/results'])
  async results(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const id = pathId(given, 'keyword');
    if (!(await this.keywords.keyword(accountId, id))) throw Refusal.notFound('keyword');
    return this.page(accountId, id, raw, RESULTS_WINDOW_MS);
  }

  @Get('v1/mentions/:id')
  async read(@From() { accountId }: Caller, @Param('id') id: string) {
    return mentionView(await this.mention(accountId, id));
  }

  @Get('v1/mentions/:id/why')
  async why(@From() { accountId }: Caller, @Param('id') id: string) {
    return whyView(await this.mention(accountId, id));
  }

  /** Returns exactly the bytes of the stored envelopes, so the response is built as text. */
  @Get('v1/:source/watches/:id/events')
  @Header('content-type', 'application/json; charset=utf-8')
  async events(
    @From() { accountId }: Caller,
    @Param('source') name: string,
    @Param('id') given: string,
    @Query() raw: RawQuery,
  ) {
    const source = sourceOf(name);
    const id = pathId(given, 'watch');
    if (!(await this.keywords.watch(accountId, source, id))) throw Refusal.notFound('watch');
    return this.envelopes(accountId, id, [id], raw);
  }

  /** Returns the events of all watches that a keyword has had, and of the keyword itself. */
  @Get(['v1/keywords/:id/events', 'v1/queries/:id/events'])
  @Header('content-type', 'application/json; charset=utf-8')
  async eventsOfKeyword(@From() { accountId }: Caller, @Param('id') given: string, @Query() raw: RawQuery) {
    const id = pathId(given, 'keyword');
    if (!(await this.keywords.keyword(accountId, id))) throw Refusal.notFound('keyword');
    const watches = (await this.keywords.watchesOfKeywords([id])).get(id) ?? [];
    return this.envelopes(accountId, id, [id, ...watches.map(({ watch }) => watch.watchId)], raw);
  }

  private async envelopes(accountId: string, id: string, watchIds: readonly string[], raw: RawQuery) {
    const query = new QueryReader(raw);
    const { limit, until, cursor, since } = window(query, EVENTS_WINDOW_MS);
    query.finish();
    const scope = { list: 'events', accountId, id, since: raw.since, until: raw.until };
    const from = cursor === undefined ? undefined : this.cursors.read<ListCursor>(scope, cursor);
    const start = from ? new Date(from.since) : since;
    const page = { since: start, until, order: 'asc' as const, limit, after: from?.after };
    const found = await this.mentions.events(accountId, watchIds, page);
    const position = cursorAfter(EVENTS, found, page);
    const next = position && this.cursors.write(scope, position);
    const tail = `"since":${JSON.stringify(isoOf(start))}${next === undefined ? '' : `,"nextCursor":${JSON.stringify(next)}`}`;
    return `{"data":[${found
      .slice(0, limit)
      .map((row) => row.envelope)
      .join(',')}],${tail}}`;
  }

  private async mention(accountId: string, id: string) {
    const row = await this.mentions.mention(accountId, pathId(id, 'mention'));
    if (!row) throw Refusal.notFound('mention');
    return row;
  }

  private async page(accountId: string, keywordId: string | undefined, raw: RawQuery, windowMs: number) {
    const query = new QueryReader(raw);
    const { limit, until, cursor, since } = window(query, windowMs);
    const ordered = query.one('order', ['asc', 'desc']);
    const order = ordered ?? 'desc';
    const filter = readMentionFilter(query, { semantic: true });
    const isSemantic = filter.questions.length > 0;
    if (isSemantic && ordered)
      query.fault('order', 'cannot be given with mode=semantic, which orders by score');
    query.finish();
    if (isSemantic)
      return this.semantic.page({ accountId, keywordId, filter, since, until, limit, cursor, raw });
    const scope = {
      list: 'mentions',
      accountId,
      keywordId,
      filter,
      order,
      since: raw.since,
      until: raw.until,
    };
    const from =
      cursor === undefined
        ? undefined
        : this.cursors.read<ListCursor>(JSON.parse(JSON.stringify(scope)), cursor);
    // The default window ends at the current time, so later pages use the window of the first page.
    const start = from ? new Date(from.since) : since;
    const page = { since: start, until, order, limit, after: from?.after };
    const isNewest = from === undefined && until === undefined && order === 'desc';
    const lastEventId = isNewest ? await this.positions.beforeList(accountId) : undefined;
    const found = await this.mentions.mentions(accountId, keywordId, filter, page);
    const next = cursorAfter(MENTIONS, found, page);
    return {
      data: found.slice(0, limit).map(mentionView),
      since: isoOf(start),
      until: until ? isoOf(until) : null,
      ...(next ? { nextCursor: this.cursors.write(JSON.parse(JSON.stringify(scope)), next) } : {}),
      ...(lastEventId === undefined ? {} : { lastEventId }),
      meta: { credits_used: 0 },
    };
  }
}

function window(query: QueryReader, windowMs: number) {
  const { from: since, to: until } = query.window('since', 'until', windowMs);
  return { since, until, limit: query.integer('limit', 1, 200, 50), cursor: query.one('cursor') };
}
