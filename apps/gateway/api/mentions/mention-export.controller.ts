import { pipeline, Readable, Transform } from 'node:stream';
import { Controller, Get, Query, Res } from '@nestjs/common';
import { stringify, type ColumnOption } from 'csv-stringify';
import type { FastifyReply } from 'fastify';
import type { MentionRow } from '#clickhouse';
import { isId, Refusal, Running } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { readMentionFilter, type MentionFilter } from '../../reads/mention-filter.js';
import { MentionReads, MENTIONS } from '../../reads/mention-reads.js';
import { cursorAfter, type TimePage } from '../../reads/time-page.js';
import { mentionView } from './mention-view.js';

const WINDOW_MS = 24 * 3_600_000;
/** Number of rows in one read. Each row can contain 64 KiB of text. */
const PAGE_ROWS = 200;
/** Maximum number of exports that one gateway streams for one account at the same time. */
const MAX_CONCURRENT = 4;
/**
 * The value of `Retry-After` if too many exports are running. `libs/platform/http-edge.ts` closes a connection whose
 * client does not read its export, by default after a minute.
 */
const RETRY_AFTER_SECONDS = 10;

type MentionView = ReturnType<typeof mentionView>;

/**
 * Streams mentions as a file. An export reads one page of mentions at a time into memory. An export costs no credits.
 */
@Controller()
export class MentionExportController {
  private readonly running = new Running();

  constructor(private readonly mentions: MentionReads) {}

  /**
   * The order is oldest first unless `order=desc`. `after` continues an interrupted export after the mention with this
   * id.
   */
  @Get('v1/mentions/export')
  async export(@From() { accountId }: Caller, @Query() raw: RawQuery, @Res() reply: FastifyReply) {
    const query = new QueryReader(raw);
    const format = query.one('format', ['csv', 'ndjson']) ?? 'ndjson';
    const order = query.one('order', ['asc', 'desc']) ?? 'asc';
    const { from: since, to: until = new Date() } = query.window('since', 'until', WINDOW_MS);
    const after = query.one('after');
    if (after !== undefined && !isId(after)) query.fault('after', 'must be the id of a mention');
    const filter = readMentionFilter(query);
    query.finish();
    const position = after === undefined ? undefined : await this.mentions.positionOf(accountId, after);
    if (after !== undefined && !position)
      throw Refusal.validation([{ path: 'after', message: 'is not a mention of this account' }]);
    const page: TimePage = { since, until, order, limit: PAGE_ROWS, after: position };
    const isCsv = format === 'csv';
    const answer = () =>
      reply
        .header('content-type', isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
        .header('content-disposition', `attachment; filename="mentions.${format}"`);
    // For a HEAD, Fastify would read the whole export and drop it.
    if (reply.request.method === 'HEAD') return void answer().send();
    if (this.running.of(accountId) >= MAX_CONCURRENT) {
      reply.header('retry-after', RETRY_AFTER_SECONDS);
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        `${MAX_CONCURRENT} exports of this account are already running; wait until one ends`,
      );
    }
    const rows = await this.begin(accountId, filter, page);
    void answer().send(isCsv ? csvOf(rows, after === undefined) : ndjsonOf(rows));
  }

  /**
   * Reads the first page before the response starts, so that an outage returns an error status and not a broken file.
   */
  private async begin(accountId: string, filter: MentionFilter, page: TimePage): Promise<Readable> {
    const end = this.running.begin(accountId);
    try {
      const first = await this.mentions.mentions(accountId, undefined, filter, page);
      return Readable.from(this.rows(accountId, filter, page, first)).once('close', end);
    } catch (error) {
      end();
      throw error;
    }
  }

  private async *rows(
    accountId: string,
    filter: MentionFilter,
    first: TimePage,
    firstRows: readonly MentionRow[],
  ): AsyncGenerator<MentionView> {
    let found = firstRows;
    for (let page = first; ;) {
      for (const row of found.slice(0, page.limit)) yield mentionView(row);
      const next = cursorAfter(MENTIONS, found, page);
      if (!next) return;
      page = { ...page, after: next.after };
      found = await this.mentions.mentions(accountId, undefined, filter, page);
    }
  }
}

function ndjsonOf(rows: Readable): Readable {
  return through(
    rows,
    new Transform({
      writableObjectMode: true,
      transform: (view: MentionView, _, done) => done(null, `${JSON.stringify(view)}\n`),
    }),
  );
}

/** @param header false if the rows continue a file that already has a header */
function csvOf(rows: Readable, header: boolean): Readable {
  const cast = {
    boolean: String,
    object: (value: unknown) => (Array.isArray(value) ? value.join('; ') : JSON.stringify(value)),
  };
  // A spreadsheet runs a cell that begins like a formula.
  return through(rows, stringify({ header, columns: COLUMNS, escape_formulas: true, cast }));
}

/**
 * Sends the rows through the transform. If one of the two streams ends early, the other stream also ends. A stream ends
 * early if the client disconnects or a page cannot be read.
 */
function through(rows: Readable, transform: Transform): Readable {
  pipeline(rows, transform, () => undefined);
  return transform;
}

/** The columns, named by the keys of a mention. */
const COLUMNS: ColumnOption[] = [
  ...['id', 'occurredAt', 'publishedAt', 'keywordId', 'watchId', 'source', 'type', 'kind', 'url', 'title'],
  ...['text', 'author', 'authorName', 'authorUrl', 'vip', 'community', 'lang', 'backfilled', 'truncated'],
  ...['matchedTerms', 'labels', 'engagement.likes', 'engagement.replies', 'engagement.shares'],
  ...['engagement.views', 'engagement.score', 'analysis.sentiment', 'analysis.intent', 'analysis.relevance'],
  ...['analysis.sentimentScore', 'analysis.reason', 'bucket.key', 'coBrands', 'storyId'],
  'dropped.reason',
].map((key) => ({ key, header: key }));
