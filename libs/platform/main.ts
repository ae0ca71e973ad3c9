import { once } from 'node:events';
import { SettingsError } from '#config';
import type { RunningService } from './service.js';

/** What is left to the stores and the connections after the services' grace, all in all. */
const AFTER_GRACE_MS = 4800;

type Stoppable = Pick<RunningService, 'stop'>;

/**
 * The frame of every program: starts, waits for SIGINT or SIGTERM, stops. A signal during the start gives the start
 * up (`stopping` is aborted) and waits until what it made is ended again. What goes wrong at the start is one clear
 * message and exit code 1, never a stack trace for a bad setting.
 */
export async function runProgram<C extends { SHUTDOWN_GRACE_MS: number }>(
  readConfig: () => C,
  start: (config: C, stopping: AbortSignal) => Promise<Stoppable>,
): Promise<void> {
  const stopping = new AbortController();
  // Further signals change nothing: to leave at once would leave the stores running.
  const stop = () => stopping.abort();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // To wait for a signal does not keep a program running by itself.
  setInterval(() => undefined, 2 ** 30);
  try {
    const config = readConfig();
    stopping.signal.addEventListener('abort', () => beginToEnd(config.SHUTDOWN_GRACE_MS));
    const running = await startUnlessStopped(() => start(config, stopping.signal), stopping.signal);
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    await running?.stop();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

/** Undefined when a stop was asked for meanwhile and made the start fail. */
async function startUnlessStopped(
  start: () => Promise<Stoppable>,
  stopping: AbortSignal,
): Promise<Stoppable | undefined> {
  try {
    return await start();
  } catch (error) {
    if (stopping.aborted) return undefined;
    throw error;
  }
}

/** From here on the program ends, whatever hangs or fails. */
function beginToEnd(graceMs: number): void {
  setTimeout(() => {
    console.error('The stop took too long; what still ran was ended.');
    process.exit(1);
  }, graceMs + AFTER_GRACE_MS).unref();
  // What was cut off may fail with nobody waiting for it any more: that must not end the stop half way.
  process.on('unhandledRejection', () => undefined);
}

function fail(error: unknown): never {
  const known = error instanceof SettingsError || process.env.LOG_LEVEL !== 'debug';
  console.error(known && error instanceof Error ? error.message : error);
  process.exit(1);
}
