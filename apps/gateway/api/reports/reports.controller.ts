import { Controller, Get, Param, Query } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import { ReportAddresses } from '#secrets';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { pathId } from '../../http/path-id.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { ReportReads, type ReportPosition, type ReportRow } from '../../reads/report-reads.js';

/** Weekly reports of the last 90 days. Free. */
@Controller('v1/reports')
export class ReportsController {
  constructor(
    private readonly reads: ReportReads,
    private readonly cursors: Cursors,
    private readonly addresses: ReportAddresses,
  ) {}

  @Get()
  async list(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const keyword = query.id('keyword') ?? null;
    const limit = query.integer('limit', 1, 200, 50);
    const cursor = query.one('cursor');
    query.finish();
    const scope = { list: 'reports', accountId, keyword };
    const before = cursor === undefined ? undefined : this.cursors.read<ReportPosition>(scope, cursor);
    const found = await this.reads.reports(accountId, keyword, limit, before);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map((row) => this.summaryView(row)),
      ...(last
        ? { nextCursor: this.cursors.write(scope, { at: isoOf(last.created_at), id: last.report_id }) }
        : {}),
    };
  }

  @Get(':id')
  async read(@From() { accountId }: Caller, @Param('id') id: string) {
    const row = await this.reads.report(accountId, pathId(id, 'report'));
    if (!row) throw Refusal.notFound('report');
    const { reportId: _id, url: _url, ...figures } = row.body.report ?? { reportId: '', url: '' };
    return { ...this.summaryView(row), ...figures };
  }

  /** The address is signed again, because a rotation of MASTER_KEY can make an address in an old mail invalid. */
  private summaryView(row: ReportRow) {
    return {
      id: row.report_id,
      keywordId: row.keyword_id,
      channelId: row.channel_id,
      period: { from: isoOf(row.period_from), to: isoOf(row.period_to) },
      url: this.addresses.urlOf(row.report_id, row.period_to.getTime()),
      createdAt: isoOf(row.created_at),
    };
  }
}
