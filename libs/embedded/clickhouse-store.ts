import { mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOrMakeCredentials, type Credentials } from './credentials.js';
import { unprivileged } from './unprivileged.js';
import { startOnFreePort, type StoreHost, type StoreProcess } from './store-process.js';

/**
 * Each running statement uses one of these threads; the remaining threads are for KILL QUERY and for files.
 */
const ENGINE_THREADS = '24';

/** Starts chDB behind its HTTP bridge, in a separate process. Its data is in `<dataDir>/clickhouse`. */
export async function startClickhouse(host: StoreHost): Promise<{ store: StoreProcess; url: string }> {
  const { dataDir } = host;
  const program = fileURLToPath(new URL('../../apps/clickhouse-bridge/main.js', import.meta.url));
  const credentialsFile = join(dataDir, 'clickhouse.json');
  const credentials = readOrMakeCredentials(credentialsFile);
  const directory = join(dataDir, 'clickhouse');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const programs = [process.execPath, program, createRequire(import.meta.url).resolve('chdb')];
  const owner = unprivileged(host, 'clickhouse', programs, [directory, credentialsFile]);
  const { store, port } = await startOnFreePort(host, (candidate) => ({
    name: 'clickhouse',
    ...owner,
    file: process.execPath,
    args: [
      program,
      ...['--dir', directory, '--port', String(candidate)],
      ...['--credentials', credentialsFile, '--exit-with-stdin'],
    ],
    env: { UV_THREADPOOL_SIZE: ENGINE_THREADS },
    holdStdin: true,
    stopSignal: 'SIGTERM',
    isReady: () => answersPing(candidate, credentials),
  }));
  return { store, url: `http://${credentials.user}:${credentials.password}@127.0.0.1:${port}` };
}

function answersPing(port: number, { user, password }: Credentials): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      { port, host: '127.0.0.1', path: '/ping', auth: `${user}:${password}`, timeout: 1_000, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.once('error', () => resolve(false));
    request.once('timeout', () => request.destroy());
  });
}
