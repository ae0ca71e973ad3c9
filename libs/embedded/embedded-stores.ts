import { existsSync, realpathSync } from 'node:fs';
import { startClickhouse } from './clickhouse-store.js';
import { createDirectory } from './create-directory.js';
import { lockDirectory, lockStores, type StoresLock } from './directory-lock.js';
import { startNats } from './nats-store.js';
import { startPostgres } from './postgres-store.js';
import { makePrivate } from './private-files.js';
import { removeRuntime, writeRuntime } from './runtime-file.js';
import { endOrphan, type EmbeddedLog, type StoreHost, type StoreProcess } from './store-process.js';

/** Which stores to start, and where their data is. A store with a URL is not started. */
export interface EmbeddedOptions {
  dataDir: string;
  natsUrl?: string | undefined;
  databaseUrl?: string | undefined;
  clickhouseUrl?: string | undefined;
  log: EmbeddedLog;
  /** Cancels a start. Started stores are stopped before the start throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The running stores. */
export interface EmbeddedStores {
  natsUrl: string;
  databaseUrl: string;
  clickhouseUrl: string;
  /**
   * Names of the stores that were started (`nats`, `postgres`, `clickhouse`). The other stores have a URL.
   */
  started: string[];
  /**
   * Resolves if a store is not started again, with an error that names the store and the reason: the store ended more
   * than five times in a minute, or it does not answer after a restart. Otherwise the promise never settles.
   */
  givenUp: Promise<Error>;
  /** Stops all started stores; kills those that have not exited after 3.5 s. A second call waits for the first call. */
  stop(): Promise<void>;
}

type Starter = (host: StoreHost) => Promise<{ store: StoreProcess; url: string }>;

const STORES = [
  { name: 'nats', option: 'natsUrl', stopSignal: 'SIGTERM' },
  { name: 'postgres', option: 'databaseUrl', stopSignal: 'SIGINT' },
  { name: 'clickhouse', option: 'clickhouseUrl', stopSignal: 'SIGTERM' },
] as const;

/**
 * Starts the stores that have no URL, on free loopback ports, and writes the addresses of all stores to a file for the
 * command line (`readRuntime`). Stops stores of an earlier run first. Restarts a store that exits by itself, on the
 * same port. The caller handles signals and calls `stop()`.
 * @throws the signal's reason if the signal is aborted
 * @throws DirectoryInUseError if another installation uses this data directory
 * @throws Error with the reason if a store cannot be started; all stores are then stopped
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedStores> {
  const { log, signal } = options;
  signal?.throwIfAborted();
  // Mode 711 lets other users pass through the directory, because the stores run as other users if this process is
  // root. Other users cannot list the directory, and its contents have their own modes.
  createDirectory(options.dataDir, 0o711);
  const dataDir = realpathSync(options.dataDir);
  const lock = lockDirectory(dataDir);
  const running: StoreProcess[] = [];
  let storesLock: StoresLock | undefined;
  let onGivenUp: (reason: Error) => void = () => undefined;
  const givenUp = new Promise<Error>((resolve) => (onGivenUp = resolve));
  const bringUp = async (lockFd: number, given: string | undefined, start: Starter): Promise<string> => {
    if (given) return given;
    const { store, url } = await start({ dataDir, log, lockFd, onGivenUp, signal });
    running.push(store);
    return url;
  };
  const tearDown = async () => {
    await Promise.all(running.map((store) => store.stop()));
    storesLock?.release();
    lock.release();
  };
  try {
    await endOrphans(dataDir, log);
    storesLock = await lockStores(dataDir);
    makePrivate(dataDir, log);
    const { fd } = storesLock;
    const results = await Promise.allSettled([
      bringUp(fd, options.natsUrl, startNats),
      bringUp(fd, options.databaseUrl, startPostgres),
      bringUp(fd, options.clickhouseUrl, startClickhouse),
    ]);
    signal?.throwIfAborted();
    const [natsUrl, databaseUrl, clickhouseUrl] = results.map(valueOrThrow) as [string, string, string];
    const started = STORES.filter(({ option }) => !options[option]).map(({ name }) => name);
    const urls = { natsUrl, databaseUrl, clickhouseUrl };
    writeRuntime(dataDir, urls);
    return { ...urls, started, givenUp, stop: onlyOnce(() => stopAll(dataDir, tearDown)) };
  } catch (error) {
    await tearDown();
    throw error;
  }
}

async function stopAll(dataDir: string, tearDown: () => Promise<void>): Promise<void> {
  // It is possible that somebody has removed the directory, as tests do.
  if (existsSync(dataDir)) removeRuntime(dataDir);
  await tearDown();
}

async function endOrphans(dataDir: string, log: EmbeddedLog): Promise<void> {
  const ended = await Promise.all(STORES.map(({ name, stopSignal }) => endOrphan(dataDir, name, stopSignal)));
  if (ended.includes(true)) log.info('stopped the stores that an earlier run left behind');
}

function valueOrThrow<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}
