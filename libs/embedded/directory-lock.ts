import { closeSync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { tryLock } from './file-lock.js';
import { identifySelf, isRunning, parseIdentity } from './process-identity.js';

const STORES_TIMEOUT_MS = 5_000;
const POLL_MS = 50;

/** Another process uses the directory, on this host, in another container or on another host. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
  constructor(
    readonly directory: string,
    what: string,
  ) {
    super(`${directory} is in use by ${what}: stop it first, or use another directory`);
  }
}

/** A directory that is locked for this process until `release()`, or until the process ends for any reason. */
export interface DirectoryLock {
  release(): void;
}

/** The lock that the stores' processes share with this process. It remains locked while one of them runs. */
export interface StoresLock extends DirectoryLock {
  /** The file descriptor that each store's process inherits. */
  readonly fd: number;
}

/**
 * Locks a directory for this process. Writes only the file `lock` in it.
 * @throws DirectoryInUseError if another process uses the directory
 * @throws Error if the system cannot lock
 */
export function lockDirectory(directory: string): DirectoryLock {
  const file = join(directory, 'lock');
  const fd = tryLock(file);
  const holder = readHolder(file);
  if (fd === undefined) throw new DirectoryInUseError(directory, holderText(holder));
  const self = identifySelf();
  // Earlier releases did not use a lock of the operating system. They only wrote the identity of their process into the
  // file. If the process with this identity still runs, it uses the directory. Releases with a lock also write the host:
  // in a copy of a directory, their process can still run, but uses the original.
  const identity = hostOf(holder) === undefined ? parseIdentity(holder) : undefined;
  if (identity && isRunning(identity) && identity.pid !== self.pid) {
    closeSync(fd);
    throw new DirectoryInUseError(directory, holderText(holder));
  }
  ftruncateSync(fd);
  writeSync(fd, JSON.stringify({ ...self, host: hostname() }), 0);
  return { release: releaseOnce(fd) };
}

/**
 * Takes the lock that the stores' processes inherit. A store that survived its Earshot (kill -9) still has the lock.
 * This is so even if the store runs in another container or on another host, where this process cannot see it.
 * @throws DirectoryInUseError if the lock is not free within 5 seconds
 * @throws Error if the system cannot lock
 */
export async function lockStores(directory: string): Promise<StoresLock> {
  const deadline = Date.now() + STORES_TIMEOUT_MS;
  for (;;) {
    const fd = tryLock(join(directory, 'stores.lock'));
    if (fd !== undefined) return { fd, release: releaseOnce(fd) };
    if (Date.now() > deadline)
      throw new DirectoryInUseError(
        directory,
        'a store (Postgres, NATS or ClickHouse) that an earlier Earshot left running in another container or on another host',
      );
    await after(POLL_MS);
  }
}

function releaseOnce(fd: number): () => void {
  let isHeld = true;
  return () => {
    if (isHeld) closeSync(fd);
    isHeld = false;
  };
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function holderText(holder: string): string {
  const identity = parseIdentity(holder);
  const host = hostOf(holder);
  return identity
    ? `a running process (pid ${identity.pid}${host ? ` on ${host}` : ''})`
    : 'a running process';
}

function hostOf(holder: string): string | undefined {
  try {
    return (JSON.parse(holder) as { host?: string }).host;
  } catch {
    return undefined;
  }
}
