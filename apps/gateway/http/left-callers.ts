import type { FastifyInstance } from 'fastify';
import { whileCallerWaits } from '#clickhouse';
import { isWrite } from '../auth/audit-log.js';

/**
 * Ends the queries in ClickHouse of a request whose connection closes before its response is complete. Otherwise the
 * requests of other callers would wait for queries whose rows nobody gets. A write goes on, because the audit log records
 * its outcome.
 */
export function endQueriesOfLeftCallers(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', (request, reply, done) => {
    if (isWrite(request)) return done();
    const left = new AbortController();
    const abort = () => {
      if (!reply.raw.writableFinished) left.abort();
    };
    if (reply.raw.closed) abort();
    else reply.raw.once('close', abort);
    whileCallerWaits(left.signal, done);
  });
}
