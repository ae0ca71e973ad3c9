import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { installWithApt } from './apt.js';
import { childEnvironment } from './child-environment.js';
import { readOrMakeCredentials, type Credentials } from './credentials.js';
import { changeOwner } from './system-user.js';
import { unprivileged } from './unprivileged.js';
import { startOnFreePort, type EmbeddedLog, type StoreHost, type StoreProcess } from './store-process.js';

const run = promisify(execFile);

/**
 * Without this limit, reading one subject of a large stream increased the memory of nats-server 2.9 from 28 MB to 3.5
 * GB.
 */
const GO_MEMORY_LIMIT = '512MiB';

/**
 * Growth of memory in percent after which Go collects garbage (default 100). The server uses little memory here, so
 * frequent collections cost little.
 */
const GO_GARBAGE_PERCENT = '25';

/**
 * Time in which a client must sign in. The default of nats-server is 2 s, but a program that starts on a busy machine
 * needs more time.
 */
const AUTHENTICATED_WITHIN_S = 15;

/** Starts a NATS server with JetStream on the loopback address. Its store is in `<dataDir>/nats`. */
export async function startNats(host: StoreHost): Promise<{ store: StoreProcess; url: string }> {
  const { dataDir } = host;
  const file = await ensureNatsServer(host.log);
  const storeDir = join(dataDir, 'nats');
  mkdirSync(storeDir, { recursive: true, mode: 0o700 });
  const owner = unprivileged(host, 'nats', [file], [storeDir]);
  const syncAlways = atLeast(await versionOf(file), 2, 10);
  const configFile = join(dataDir, 'nats.conf');
  const credentials = readOrMakeCredentials(join(dataDir, 'nats.json'));
  const { store, port } = await startOnFreePort(host, (candidate) => {
    writeFileSync(configFile, natsConfig(candidate, storeDir, syncAlways, credentials), { mode: 0o600 });
    if (owner) changeOwner(owner, configFile);
    return {
      name: 'nats',
      ...owner,
      file,
      args: ['-c', configFile],
      env: { GOMEMLIMIT: GO_MEMORY_LIMIT, GOGC: GO_GARBAGE_PERCENT },
      stopSignal: 'SIGTERM',
      isReady: () => answersAsNats(candidate),
    };
  });
  return { store, url: `nats://${credentials.user}:${credentials.password}@127.0.0.1:${port}` };
}

/** Returns the path of nats-server, if it is installed. Debian puts it into a directory that is only in root's PATH. */
export function findNatsServer(): string | undefined {
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin', '/usr/bin'];
  return places
    .filter(Boolean)
    .map((place) => join(place, 'nats-server'))
    .find(isExecutable);
}

/**
 * Returns the path of nats-server. Installs nats-server with apt if it is missing and this process is allowed to.
 * @throws Error that says what to do
 */
export async function ensureNatsServer(log: EmbeddedLog): Promise<string> {
  return findNatsServer() ?? (await installNatsServer(log));
}

async function installNatsServer(log: EmbeddedLog): Promise<string> {
  const advice =
    'nats-server is missing: install it (`apt-get install nats-server`, or https://github.com/nats-io/nats-server/releases) or set NATS_URL';
  log.info('installing nats-server with apt-get (once)');
  try {
    await installWithApt('nats-server');
  } catch (error) {
    throw new Error(`${advice} (${(error as Error).message})`, { cause: error });
  }
  const file = findNatsServer();
  if (!file) throw new Error(advice);
  return file;
}

function natsConfig(
  port: number,
  storeDir: string,
  syncAlways: boolean,
  { user, password }: Credentials,
): string {
  const lines = [
    `host: "127.0.0.1"`,
    `port: ${port}`,
    `authorization { timeout: ${AUTHENTICATED_WITHIN_S}, user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)} }`,
    `jetstream {`,
    `  store_dir: ${JSON.stringify(storeDir)}`,
    // Servers before 2.10 do not support `sync_interval: always`: with them, a power failure can lose the messages of
    // the last moments. A crash of the process loses none.
    ...(syncAlways ? [`  sync_interval: always`] : []),
    `}`,
  ];
  return `${lines.join('\n')}\n`;
}

async function versionOf(file: string): Promise<[number, number]> {
  const { stdout } = await run(file, ['--version'], { env: childEnvironment() });
  const found = /v(\d+)\.(\d+)\./.exec(stdout);
  return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
}

function atLeast([major, minor]: [number, number], wantedMajor: number, wantedMinor: number): boolean {
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** Returns whether a NATS server sends its greeting on the port. A server starts JetStream before it listens. */
function answersAsNats(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (isReady: boolean) => {
      socket.destroy();
      resolve(isReady);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once('data', (data) => finish(data.toString().startsWith('INFO ')));
    socket.once('error', () => finish(false));
    socket.once('end', () => finish(false));
  });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
