import { Controller, Get, Headers, NotFoundException, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DashboardFiles } from './dashboard-files.js';

/** The content of a file with a hash in its name never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Serves the files of the dashboard's page. The files contain no data of accounts, so they need no session. */
@Controller()
export class DashboardFilesController {
  constructor(private readonly files: DashboardFiles) {}

  @Get('assets/:name')
  asset(
    @Param('name') name: string,
    @Headers('accept-encoding') accepted: string,
    @Res() reply: FastifyReply,
  ) {
    return this.send(`assets/${name}`, IMMUTABLE, accepted, reply);
  }

  @Get('theme.js')
  theme(@Headers('accept-encoding') accepted: string, @Res() reply: FastifyReply) {
    return this.send('theme.js', 'no-cache', accepted, reply);
  }

  @Get(['favicon.svg', 'favicon.ico'])
  icon(@Headers('accept-encoding') accepted: string, @Res() reply: FastifyReply) {
    return this.send('favicon.svg', 'public, max-age=86400', accepted, reply);
  }

  private send(name: string, caching: string, accepted: string | undefined, reply: FastifyReply) {
    const file = this.files.file(name, accepted);
    if (!file) throw new NotFoundException();
    return reply
      .type(file.type)
      .headers({
        'cache-control': caching,
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        vary: 'accept-encoding',
        ...(file.encoding ? { 'content-encoding': file.encoding } : {}),
      })
      .send(file.bytes);
  }
}
