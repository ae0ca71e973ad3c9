import { timingSafeEqual, createHash } from 'node:crypto';
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Settings } from '#config';
import type { Logger } from '#telemetry';

/** The settings of a service's HTTP server. */
export type EdgeSettings = Settings<
  | 'HOST'
  | 'OPERATIONS_TOKEN'
  | 'TRUST_PROXY'
  | 'MAX_CONNECTIONS'
  | 'HTTP_HEADERS_TIMEOUT_MS'
  | 'HTTP_REQUEST_TIMEOUT_MS'
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the response of a route can take, in ms, if this is longer than the limit of other routes. */
    answerWithinMs?: number;
  }
}

const MAX_BODY_BYTES = 1024 * 1024;
/** Refused connections are reported once in this time, with their number. */
const REPORT_EVERY_MS = 10_000;

/** Returns the limits of a request's duration and size, and the proxies whose `x-forwarded-for` is trusted. */
export function edgeOptions(settings: EdgeSettings): FastifyHttpOptions<Server> {
  const { HTTP_HEADERS_TIMEOUT_MS, HTTP_REQUEST_TIMEOUT_MS, TRUST_PROXY } = settings;
  const headersTimeout = Math.min(HTTP_HEADERS_TIMEOUT_MS, HTTP_REQUEST_TIMEOUT_MS);
  return {
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: TRUST_PROXY === '' ? false : TRUST_PROXY.split(',').map((address) => address.trim()),
    requestTimeout: HTTP_REQUEST_TIMEOUT_MS,
    // Closes a connection that has no traffic for this time during a request, for example if the client stopped reading
    // the response. Between requests, Fastify's own limit of 72 s applies.
    connectionTimeout: idleMs(settings),
    // Node checks for slow requests only at this interval; its default is 30 s.
    http: { headersTimeout, connectionsCheckingInterval: Math.min(1000, headersTimeout) },
  };
}

function idleMs({ HTTP_REQUEST_TIMEOUT_MS }: EdgeSettings): number {
  return 2 * HTTP_REQUEST_TIMEOUT_MS;
}

/**
 * Limits connections, and protects `/readyz` and `/metrics`. Responds 503 to a request that has no response when its
 * connection times out, for example because a store is frozen. Adds headers that tell clients not to guess content types,
 * and not to store responses of `/v1`.
 */
export function guardEdge(fastify: FastifyInstance, settings: EdgeSettings, log: Logger): void {
  limitConnections(fastify.server, settings.MAX_CONNECTIONS, log);
  const refusalOf = operationsGuard(settings);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { answerWithinMs = 0 } = request.routeOptions.config;
    // Node applies the usual limit again to the next request of the connection.
    if (answerWithinMs > idleMs(settings)) reply.raw.setTimeout(answerWithinMs);
    // Without this listener, Node closes the connection without a response. `reply` stays as it is, because its handler
    // and hooks can still run: they change the status, and their own work waits for the same store.
    reply.raw.once('timeout', (socket: Socket) => {
      if (reply.raw.headersSent) return void socket.destroy();
      const { method, routeOptions } = request;
      log.error({ method, route: routeOptions.url }, 'a request got 503, because its response took too long');
      respondAndClose(socket, TOO_LATE_STATUS, TOO_LATE, reply.getHeaders());
    });
    void reply.header('x-content-type-options', 'nosniff');
    if (request.url.startsWith('/v1')) void reply.header('cache-control', 'no-store');
    const refusal = OPERATIONS.has(request.routeOptions.url ?? '') ? refusalOf(request) : undefined;
    if (refusal) void reply.status(refusal.status).send({ error: refusal.error, code: refusal.code });
    else done();
  });
}

/** Writes a response to a connection, instead of the response that Node and Fastify would write, and closes it. */
export function respondAndClose(
  socket: Duplex,
  status: number,
  body: object,
  headers: Record<string, string | number | string[] | undefined>,
): void {
  const text = JSON.stringify(body);
  const all = {
    ...headers,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}`),
  );
  socket.end(
    [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n'),
    // The connection is destroyed, because a sender that never closes its side would keep it open.
    () => socket.destroy(),
  );
}

/** Paths that show internals. `/healthz` is open, because it says only that the process runs. */
const OPERATIONS: ReadonlySet<string> = new Set(['/readyz', '/metrics']);

/** The status of a request whose connection times out without a response. */
export const TOO_LATE_STATUS = 503;
const TOO_LATE = { code: 'UNAVAILABLE', error: 'the response took too long; try again' };
const NO_TOKEN = {
  status: 403,
  code: 'FORBIDDEN',
  error: 'HOST is not a loopback address: set OPERATIONS_TOKEN, and send it as authorization: Bearer',
};
const WRONG_TOKEN = {
  status: 401,
  code: 'UNAUTHORIZED',
  error: 'the header authorization must contain Bearer and the OPERATIONS_TOKEN',
};

/** Returns a function that returns the reason why a request is refused, or undefined. */
function operationsGuard({
  HOST,
  OPERATIONS_TOKEN,
}: EdgeSettings): (request: FastifyRequest) => typeof NO_TOKEN | undefined {
  if (OPERATIONS_TOKEN === '') return () => (isLoopback(HOST) ? undefined : NO_TOKEN);
  const wanted = digest(`Bearer ${OPERATIONS_TOKEN}`);
  return ({ headers }) =>
    timingSafeEqual(digest(headers.authorization ?? ''), wanted) ? undefined : WRONG_TOKEN;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}

/** Returns the hash of a text. Hashes have the same length, so they can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function limitConnections(server: Server, max: number, log: Logger): void {
  server.maxConnections = max;
  let refused = 0;
  server.on('drop', () => {
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      log.warn(
        { refused, max },
        'connections were refused, because the number of open connections has reached MAX_CONNECTIONS',
      );
      refused = 0;
    }, REPORT_EVERY_MS).unref();
  });
}
