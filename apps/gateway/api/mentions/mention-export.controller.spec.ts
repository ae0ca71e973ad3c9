import Fastify from 'fastify';
import type { MentionReads } from '../../reads/mention-reads.js';
import type { Caller } from '../../auth/api-keys.js';
import { MentionExportController } from './mention-export.controller.js';

describe('an export', () => {
  it('reads no mentions for a HEAD request, and returns the headers of the file', async () => {
    let reads = 0;
    const mentions = { mentions: () => Promise.resolve(((reads += 1), [])) };
    const controller = new MentionExportController(mentions as unknown as MentionReads);
    const fastify = Fastify();
    fastify.get('/export', (_, reply) =>
      controller.export({ accountId: 'a' } as Caller, { format: 'csv' }, reply),
    );
    const head = await fastify.inject({ method: 'HEAD', url: '/export' });
    expect([head.statusCode, head.headers['content-type'], reads]).toEqual([
      200,
      'text/csv; charset=utf-8',
      0,
    ]);
    await fastify.inject({ method: 'GET', url: '/export' });
    expect(reads).toBe(1);
    await fastify.close();
  });
});
