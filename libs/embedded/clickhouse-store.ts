import { existsSync, mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOrMakeCredentials, type Credentials } from './credentials.js';
import { unprivileged } from './unprivileged.js';
import { startOnFreePort, type StoreHost, type StoreProcess } from './store-process.js';

/** Every statement holds one of these threads; the rest are for KILL QUERY and for files. */
const ENGINE_THREADS = '24';

/** Starts chDB behind its HTTP bridge, in a process of its own; its data is `<dataDir>/clickhouse`. */
export async function startClickhouse(host: StoreHost): Promise<{ store: StoreProcess; url: string }> {
  const { dataDir } = host;
  const program = bridgeProgram();
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

/** The compiled bridge, found from our compiled place (dist/libs/embedded) and from our source (libs/embedded). */
function bridgeProgram(): string {
  const candidates = ['../../apps/clickhouse-bridge/main.js', '../../dist/apps/clickhouse-bridge/main.js'];
  const found = candidates
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  if (!found) throw new Error('the ClickHouse bridge is not built: run `npm run build` first');
  return found;
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
