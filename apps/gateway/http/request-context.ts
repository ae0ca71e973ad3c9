import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '#kernel';
import { TOO_LATE_STATUS } from '#platform';
import { arrive, endSpan, metrics, SpanKind, type Logger, type Span } from '#telemetry';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/**
 * Gives each request its id and trace, and measures it.
 * @param trustsCallers true: a request continues the trace in its `traceparent`, and the trace is recorded if the
 *   caller asks for it. False: a request begins a new trace with a link to the caller's trace, because strangers must
 *   not decide what is recorded.
 */
export function trackRequests(fastify: FastifyInstance, log: Logger, trustsCallers: boolean): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  const counted = new WeakSet<FastifyRequest>();
  const end = (request: FastifyRequest, reply: FastifyReply, statusCode: number) => {
    // A request that got 503 from `guardEdge` can end later: its handler still runs.
    if (counted.has(request)) return;
    counted.add(request);
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    endRequestSpan(spans.get(request), method, route, statusCode);
    metrics.httpRequests.record(reply.elapsedTime / 1000, { method, route, status: String(statusCode) });
    log.debug({ method, route, status: statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const requestId = requestIdOf(request.headers);
    void reply.header('x-request-id', requestId);
    reply.raw.once('timeout', () => {
      if (!reply.raw.headersSent) end(request, reply, TOO_LATE_STATUS);
    });
    const given = request.headers.traceparent as string | undefined;
    const origin = trustsCallers ? { traceparent: given } : { caller: given };
    const attributes = { 'http.request.method': request.method };
    arrive(request.method, SpanKind.SERVER, { ...origin, requestId, attributes }, (span) => {
      if (span.isRecording()) spans.set(request, span);
      done();
    });
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    end(request, reply, reply.statusCode);
    done();
  });
}

function endRequestSpan(span: Span | undefined, method: string, route: string, status: number): void {
  if (!span) return;
  span.updateName(`${method} ${route}`);
  span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
  endSpan(span, status >= 500 ? new Error() : undefined);
}

/**
 * Returns the id that the sender gave the request; a new id if it is missing or is not 1 to 128 visible ASCII
 * characters.
 */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && VISIBLE_ASCII.test(given) ? given : newId();
}
