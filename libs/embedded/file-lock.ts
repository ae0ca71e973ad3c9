import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { childEnvironment } from './child-environment.js';

/** On BSD and macOS open(2) takes the lock with this flag, for which Node has no constant. */
const O_EXLOCK = 0x20;

/**
 * Takes an exclusive lock of the operating system (flock(2)) on a file. Creates the file if it is missing. Never remove
 * the file. The lock belongs to the open file, not to a process id. So it works across containers, and across
 * hosts if the file system supports locks (NFS does unless it is mounted with `nolock`). The lock ends when the last
 * process with the descriptor closes the descriptor or dies. Child processes do not inherit files that Node opens. A
 * child that should share the lock gets the descriptor in its `stdio`.
 * @returns the descriptor; undefined if another process has the lock
 * @throws Error if the system cannot lock
 */
export function tryLock(file: string): number | undefined {
  if (process.platform === 'darwin') return openLocked(file);
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  // flock(1) locks the open file that it shares with this process, and exits. The lock remains with our descriptor.
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
