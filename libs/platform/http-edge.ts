import { timingSafeEqual, createHash } from 'node:crypto';
import type { Server } from 'node:http';
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

const LARGEST_BODY_BYTES = 1024 * 1024;
/** Connections that were refused are reported once in such a time, with their number. */
const REPORT_EVERY_MS = 10_000;

/** How long a request and its answer may take to arrive, how large it may be, and whose word for its sender is taken. */
export function edgeOptions(settings: EdgeSettings): FastifyHttpOptions<Server> {
  const { HTTP_HEADERS_TIMEOUT_MS, HTTP_REQUEST_TIMEOUT_MS, TRUST_PROXY } = settings;
  const headersTimeout = Math.min(HTTP_HEADERS_TIMEOUT_MS, HTTP_REQUEST_TIMEOUT_MS);
  return {
    bodyLimit: LARGEST_BODY_BYTES,
    trustProxy: TRUST_PROXY === '' ? false : TRUST_PROXY.split(',').map((address) => address.trim()),
    requestTimeout: HTTP_REQUEST_TIMEOUT_MS,
    // A connection on which nothing moves: its reader has stopped reading an answer.
    connectionTimeout: 2 * HTTP_REQUEST_TIMEOUT_MS,
    // Node looks for requests that are too slow at this interval alone; its default is 30 s.
    http: { headersTimeout, connectionsCheckingInterval: Math.min(1000, headersTimeout) },
  };
}

/** Limits connections, writes the headers that every answer has, and guards what tells of the inside. */
export function guardEdge(fastify: FastifyInstance, settings: EdgeSettings, log: Logger): void {
  limitConnections(fastify.server, settings.MAX_CONNECTIONS, log);
  const refusalOf = operationsGuard(settings);
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-content-type-options', 'nosniff');
    if (request.url.startsWith('/v1')) void reply.header('cache-control', 'no-store');
    const refusal = OPERATIONS.has(request.routeOptions.url ?? '') ? refusalOf(request) : undefined;
    if (refusal) void reply.status(refusal.status).send({ error: refusal.error, code: refusal.code });
    else done();
  });
}

/** What tells of the inside: `/healthz` says only that the process runs. */
const OPERATIONS: ReadonlySet<string> = new Set(['/readyz', '/metrics']);

const NO_TOKEN = {
  status: 403,
  code: 'FORBIDDEN',
  error: 'set OPERATIONS_TOKEN, and send it, to read this where HOST is not a loopback address',
};
const WRONG_TOKEN = {
  status: 401,
  code: 'UNAUTHORIZED',
  error: 'the header authorization: Bearer with the OPERATIONS_TOKEN is missing or wrong',
};

/** @returns why a request for them is refused, undefined where it is not */
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

/** Texts of any length become comparable in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function limitConnections(server: Server, most: number, log: Logger): void {
  server.maxConnections = most;
  let refused = 0;
  server.on('drop', () => {
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      log.warn({ refused, most }, 'connections were refused: MAX_CONNECTIONS are open');
      refused = 0;
    }, REPORT_EVERY_MS).unref();
  });
}
