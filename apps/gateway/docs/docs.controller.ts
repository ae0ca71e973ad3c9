import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { Controller, Get, Inject, NotFoundException, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DOCS_HEADERS, guidePage, referencePage, START_SCRIPT, STYLE } from './docs-pages.js';
import { Guides } from './guides.js';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
};

const require = createRequire(import.meta.url);
const ofViewer = (name: string) => () => readFileSync(require.resolve(`swagger-ui-dist/${name}`));

/** The files of the pages. The viewer comes with the installation, so that the reference works offline. */
const FILES = new Map<string, () => string | Buffer>([
  ['docs.css', () => STYLE],
  ['start.js', () => START_SCRIPT],
  ['swagger-ui.css', ofViewer('swagger-ui.css')],
  ['swagger-ui-bundle.js', ofViewer('swagger-ui-bundle.js')],
]);

/** The documentation: guides (docs/ and `OTHER_PAGES`), and the reference of the API. The pages need no key. */
@Controller('docs')
export class DocsController {
  constructor(@Inject(Guides) private readonly guides: Guides) {}

  @Get()
  index(@Res() reply: FastifyReply) {
    return this.page('/docs', reply);
  }

  @Get('reference')
  reference(@Res() reply: FastifyReply) {
    return send(reply, 'text/html; charset=utf-8', referencePage());
  }

  @Get('viewer/:name')
  file(@Param('name') name: string, @Res() reply: FastifyReply) {
    const read = FILES.get(name);
    if (!read) throw new NotFoundException();
    return send(reply, TYPES[extname(name)] ?? '', read());
  }

  @Get('files/*')
  image(@Param('*') name: string, @Res() reply: FastifyReply) {
    const bytes = this.guides.image(name);
    if (!bytes) throw new NotFoundException();
    return send(reply, TYPES[extname(name)] ?? '', bytes);
  }

  @Get('*')
  guide(@Param('*') name: string, @Res() reply: FastifyReply) {
    return this.page(`/docs/${name}`.replace(/\.md$|\/$/, ''), reply);
  }

  private page(address: string, reply: FastifyReply) {
    const guide = this.guides.guide(address);
    if (!guide) throw new NotFoundException();
    return send(reply, 'text/html; charset=utf-8', guidePage(address, guide, this.guides.groups));
  }
}

function send(reply: FastifyReply, type: string, body: string | Buffer) {
  return reply
    .type(type)
    .headers({ ...DOCS_HEADERS, 'cache-control': 'public, max-age=300' })
    .send(body);
}
