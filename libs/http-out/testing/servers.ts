import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server for a test, on one loopback address. */
export interface TestServer {
  /** For example `http://127.0.0.2:40123`. */
  origin: string;
  port: number;
  /** Connections accepted so far. */
  connections(): number;
  /** Requests received so far. */
  requests: IncomingMessage[];
  close(): Promise<void>;
}

/** Starts a server on a free port of the address. */
export async function startServer(address: string, listener: RequestListener): Promise<TestServer> {
  let connections = 0;
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${address}:${port}`,
    port,
    connections: () => connections,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
