import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { newId } from '#kernel';
import { metrics, traceFrom, withTrace, type Logger } from '#telemetry';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/** Gives each request its id and trace, writes them into the answer, and measures it. */
export function trackRequests(fastify: FastifyInstance, log: Logger): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const requestId = requestIdOf(request.headers);
    void reply.header('x-request-id', requestId);
    withTrace(traceFrom(request.headers.traceparent as string | undefined, requestId), done);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const status = String(reply.statusCode);
    metrics.httpRequests.record(reply.elapsedTime / 1000, { method: request.method, route, status });
    log.debug(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    );
    done();
  });
}

/** The id that the sender gave the request, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && VISIBLE_ASCII.test(given) ? given : newId();
}
