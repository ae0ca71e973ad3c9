import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifySelf, isRunning, parseIdentity, type ProcessIdentity } from './process-identity.js';

/** Somebody who is alive holds the directory. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
  constructor(
    readonly directory: string,
    readonly holderPid: number,
  ) {
    super(
      `${directory} is in use by a running process (pid ${holderPid}): stop that one first, or use another directory`,
    );
  }
}

/** A directory that is ours until `release()`, or until this process is no more. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes a directory for this process alone. A lock that its holder left behind (kill -9, power cut) is taken
 * over.
 *
 * @throws DirectoryInUseError when a living process holds it.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const lockFile = join(directory, 'lock');
  const self = identifySelf();
  const own = `${lockFile}.${randomUUID()}`;
  writeFileSync(own, JSON.stringify(self), { mode: 0o600 });
  try {
    while (!linked(own, lockFile)) {
      const holder = readHolder(lockFile);
      if (holder && isRunning(holder)) throw new DirectoryInUseError(directory, holder.pid);
      setAsideStale(lockFile);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return {
    release: () => {
      const holder = readHolder(lockFile);
      if (holder?.pid === self.pid && holder.startedAt === self.startedAt) rmSync(lockFile, { force: true });
    },
  };
}

/** A link either appears whole or not at all, so no reader ever sees a lock that is half written. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Two starts may find the same stale lock, and the slower one may then move the faster one's fresh lock: so what
 * was moved is looked at again, and put back when its holder lives.
 */
function setAsideStale(lockFile: string): void {
  const aside = `${lockFile}.stale.${randomUUID()}`;
  try {
    renameSync(lockFile, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readHolder(aside);
  if (moved && isRunning(moved)) linked(aside, lockFile);
  rmSync(aside, { force: true });
}

function readHolder(file: string): ProcessIdentity | undefined {
  try {
    return parseIdentity(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
