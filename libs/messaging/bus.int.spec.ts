import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from '@nats-io/transport-node';
import { request } from 'undici';
import { findNatsServer, freePort } from '#embedded';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { connectBus } from './bus.js';

let server: ChildProcess;
let url: string;
let monitor: number;

beforeAll(async () => {
  const port = await freePort();
  monitor = await freePort();
  url = `nats://127.0.0.1:${port}`;
  server = spawn(findNatsServer() ?? '', ['-a', '127.0.0.1', '-p', String(port), '-m', String(monitor)], {
    stdio: 'ignore',
  });
  await until('NATS answers', () =>
    connect({ servers: url }).then(
      (nc) => nc.close().then(() => true),
      () => false,
    ),
  );
});
afterAll(async () => {
  server?.kill('SIGKILL');
  if (server) await once(server, 'exit');
});

it('a connection to a server without JetStream fails at once, says what to do, and is closed', async () => {
  await expect(connectBus(url, 'spec', createLogger('spec', 'silent'))).rejects.toThrow(
    'the server has no JetStream; start nats-server with -js',
  );
  await until('the server has no connection', async () => {
    const { body } = await request(`http://127.0.0.1:${monitor}/connz`);
    return ((await body.json()) as { num_connections: number }).num_connections === 0;
  });
});

it('a connection with tls:// to a server without TLS fails, and sends no credentials', async () => {
  const withTls = url.replace('nats://', 'tls://user:password@');
  await expect(connectBus(withTls, 'spec', createLogger('spec', 'silent'))).rejects.toThrow(
    "server does not support 'tls'",
  );
});
