import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ReportAddresses } from '#secrets';
import { FailedKeyAttempts } from '../../auth/failed-key-attempts.js';
import { sendPage } from '../../http/html-page.js';
import { ReportReads, type ReportRow } from '../../reads/report-reads.js';
import { page } from '../channels/page.js';
import { reportPage } from './report-page.js';

/**
 * The address of a report from an older release ends with 24 random bytes instead of a signed token. Such addresses
 * work for at most 90 days, because reports are deleted after 90 days.
 */
const UNSIGNED = /^[\w-]{32}$/;

/** Serves the pages of weekly reports to everyone who has the address of a report. */
@Controller('reports')
export class ReportPagesController {
  constructor(
    private readonly attempts: FailedKeyAttempts,
    private readonly reads: ReportReads,
    private readonly addresses: ReportAddresses,
  ) {}

  @Get(':token')
  async show(@Param('token') token: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const row = await this.reportAt(token, request, reply);
    const html = row && reportPage(row.body);
    return html ? sendPage(reply, 200, html) : sendPage(reply, 404, GONE);
  }

  private async reportAt(
    token: string,
    { ip }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<ReportRow | undefined> {
    if (UNSIGNED.test(token)) {
      this.attempts.refuseBlocked(ip, reply);
      const row = await this.reads.reportOfToken(token);
      if (!row) this.attempts.note(ip, 'the address of a report is not valid');
      return row;
    }
    const reportId = this.addresses.reportIdIn(token, Date.now());
    return reportId === undefined ? undefined : this.reads.reportOfPage(reportId);
  }
}

const GONE = page(
  'This report does not exist',
  'The address is wrong or incomplete, the report is older than 90 days, or it was deleted.',
);
