import { isatty } from 'node:tty';

/**
 * Calls `stop` when the terminal of this process is closed, or when the process gets SIGHUP for another reason. By
 * default, SIGHUP would end the process immediately and leave the stores running, even a process that was started with
 * `nohup`: Node does not keep that setting.
 */
export function stopOnHangup(stop: () => void): void {
  let isClosed = false;
  const hangUp = () => {
    isClosed = true;
    stop();
  };
  process.on('SIGHUP', hangUp);
  if (![0, 1, 2].some((fd) => isatty(fd))) return;
  // Output fails after the terminal was closed. The failure must not end the process before it has stopped.
  process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EIO' && error.syscall === 'write') return hangUp();
    console.error(error);
    process.exit(1);
  });
  // A normal exit fails too: pino repeats its last output for ever, or Node crashes because it cannot restore the modes
  // of the terminal. So the process ends by the signal.
  process.on('exit', () => {
    if (!isClosed) return;
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  });
}
