import type { RequestListener } from 'node:http';
import { OutboundError, createOutboundHttp, type OutboundHttp, type OutboundRequest } from '../index.js';
import { startServer, type TestServer } from './servers.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** An HTTP client that may reach only 127.0.0.2; closed after the test. */
export function guardedClient(options: Partial<Parameters<typeof createOutboundHttp>[0]> = {}): OutboundHttp {
  const http = createOutboundHttp({ allow: ['127.0.0.2/32'], userAgent: 'test', ...options });
  open.push(http);
  return http;
}

/** A server on 127.0.0.2, which plays the role of the internet. */
export function allowedServer(listener: RequestListener): Promise<TestServer> {
  return serverOn('127.0.0.2', listener);
}

/** A server on 127.0.0.1, which plays the role of a host that must not be reached. */
export function forbiddenServer(
  listener: RequestListener = (_, response) => response.end('secret'),
): Promise<TestServer> {
  return serverOn('127.0.0.1', listener);
}

/** A server on this address; closed after the test. */
export async function serverOn(address: string, listener: RequestListener): Promise<TestServer> {
  const server = await startServer(address, listener);
  open.push(server);
  return server;
}

/** A simple request. */
export function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, deadlineMs: 5_000, maxBytes: 1_000_000, redirects: 'none', ...more };
}

/** `kind: message` of the error with which a request must fail. */
export async function faultOf(answer: Promise<unknown>): Promise<string> {
  const fault: unknown = await answer.then(
    () => new Error('it was answered'),
    (error: unknown) => error,
  );
  if (!(fault instanceof OutboundError)) throw fault;
  return `${fault.kind}: ${fault.message}`;
}

/** The bytes as text. */
export const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
