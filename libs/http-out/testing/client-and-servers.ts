import type { RequestListener } from 'node:http';
import { OutboundError, createOutboundHttp, type OutboundHttp, type OutboundRequest } from '../index.js';
import { startServer, type TestServer } from './servers.js';

const open: { close(): Promise<void> }[] = [];

/**
 * Closes the clients and servers that a test has opened. Each spec file passes this function to `afterEach`. A hook in
 * this module would run only for the first spec file of a jest worker, because the spec files of a worker share this
 * module.
 */
export async function closeOpened(): Promise<void> {
  await Promise.all(open.splice(0).map((one) => one.close()));
}

/** Creates an HTTP client that can reach 127.0.0.2 in addition to public addresses. `closeOpened` closes it. */
export function guardedClient(options: Partial<Parameters<typeof createOutboundHttp>[0]> = {}): OutboundHttp {
  const http = createOutboundHttp({ allow: ['127.0.0.2/32'], userAgent: 'test', ...options });
  open.push(http);
  return http;
}

/** Starts a server on 127.0.0.2. Tests use this address as an address of the internet. */
export function allowedServer(listener: RequestListener): Promise<TestServer> {
  return serverOn('127.0.0.2', listener);
}

/** Starts a server on 127.0.0.1. The guarded client does not reach it, unless the test allows this address. */
export function loopbackServer(
  listener: RequestListener = (_, response) => response.end('secret'),
): Promise<TestServer> {
  return serverOn('127.0.0.1', listener);
}

/** Starts a server on this address. `closeOpened` closes it. */
export async function serverOn(address: string, listener: RequestListener): Promise<TestServer> {
  const server = await startServer(address, listener);
  open.push(server);
  return server;
}

/** Returns the description of a simple GET request. Sends nothing. */
export function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, deadlineMs: 5_000, maxBytes: 1_000_000, redirects: 'none', ...more };
}

/**
 * Waits until the request fails, and returns `kind: message` of its `OutboundError`.
 * @throws Error if the request succeeds, or fails with another error
 */
export async function faultOf(answer: Promise<unknown>): Promise<string> {
  const fault: unknown = await answer.then(
    () => new Error('the request succeeded, but must fail'),
    (error: unknown) => error,
  );
  if (!(fault instanceof OutboundError)) throw fault;
  return `${fault.kind}: ${fault.message}`;
}

/** Returns the bytes as text. */
export const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
