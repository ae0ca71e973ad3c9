import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { sendPage } from '../../http/html-page.js';
import { ReportReads } from '../../reads/report-reads.js';
import { page } from '../channels/page.js';
import { reportPage } from './report-page.js';

/** The pages of weekly reports, for people who have their secret address. */
@Controller('reports')
export class ReportPagesController {
  constructor(private readonly reads: ReportReads) {}

  @Get(':token')
  async show(@Param('token') token: string, @Res() reply: FastifyReply) {
    const row = await this.reads.reportOfToken(token);
    const html = row && reportPage(row.body);
    return html ? sendPage(reply, 200, html) : sendPage(reply, 404, GONE);
  }
}

const GONE = page(
  'This report does not exist',
  'The address is incomplete, or the report is older than 90 days.',
);
