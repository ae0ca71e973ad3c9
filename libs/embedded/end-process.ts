import { setTimeout as after } from 'node:timers/promises';
import { isRunning, type ProcessIdentity } from './process-identity.js';

const POLL_MS = 20;

/**
 * Ends one process: sends `signal`, and SIGKILL after `graceMs`. Resolves when the process has exited, at the latest
 * `graceMs` after SIGKILL. Before each signal, checks that no other process has got the same pid meanwhile.
 */
export async function endProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  sendSignal(identity, signal);
  if (await exitedWithin(identity, graceMs)) return;
  sendSignal(identity, 'SIGKILL');
  await exitedWithin(identity, graceMs);
}

/** Waits until the process has exited. Returns false if it has not exited within `ms`. */
export async function exitedWithin(identity: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isRunning(identity)) {
    if (Date.now() >= deadline) return false;
    await after(POLL_MS);
  }
  return true;
}

function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
