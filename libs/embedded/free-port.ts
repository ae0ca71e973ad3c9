import { createServer } from 'node:net';

/**
 * Returns a TCP port that is free on the loopback address. Another program may take the port before the caller uses it.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address
          ? resolve(address.port)
          : reject(new Error('the system returned no free port')),
      );
    });
  });
}
