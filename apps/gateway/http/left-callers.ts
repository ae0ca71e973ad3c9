import type { FastifyInstance } from 'fastify';
import { whileCallerWaits } from '#clickhouse';

/**
 * Ends the queries in ClickHouse of a request whose connection closes before its response is complete. Otherwise the
 * requests of other callers would wait for queries whose rows nobody gets.
 */
export function endQueriesOfLeftCallers(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (_, reply, done) => {
    const left = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) left.abort();
    });
    whileCallerWaits(left.signal, done);
  });
}
