import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { childEnvironment } from './child-environment.js';

/** On BSD and macOS open(2) itself takes the lock; Node has no name for the flag. */
const O_EXLOCK = 0x20;

/**
 * Takes an exclusive lock of the operating system (flock(2)) on a file, which is made when it is missing and must
 * never be removed. The lock belongs to the open file, not to a process id: it holds across containers, and across
 * hosts where the file system carries locks (NFS does unless it is mounted with `nolock`). It ends when the last
 * process that has the descriptor closes it or dies, however it dies.
 *
 * Node opens files so that child processes do not inherit them; a child that is to hold the lock as well is given the
 * descriptor in its `stdio`.
 *
 * @returns the descriptor; undefined when somebody else holds the lock
 * @throws Error when the system cannot lock
 */
export function tryLock(file: string): number | undefined {
  if (process.platform === 'darwin') return openLocked(file);
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  // flock(1) locks the open file that we share with it, and ends: the lock stays with our descriptor.
  const { error, status, stderr } = spawnSync('flock', ['-n', '-x', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
    env: childEnvironment(),
  });
  if (status === 0) return fd;
  closeSync(fd);
  if (status === 1 && stderr === '') return undefined;
  const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  const reason = isMissing ? 'the program flock (package util-linux) is missing' : (error?.message ?? stderr);
  throw new Error(`${file} cannot be locked: ${reason.trim()}`);
}

function openLocked(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}
