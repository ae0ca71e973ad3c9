import { once } from 'node:events';
import { SettingsError } from '#config';
import { stopTracing } from '#telemetry';
import { stopOnHangup } from './hangup.js';
import type { RunningService } from './service.js';

/** Maximum time for closing the stores and connections after the services' grace period, in ms. */
const AFTER_GRACE_MS = 4800;

const HELP = `A single Earshot service. It takes no arguments: its settings are environment variables.

  npm run -s config     lists every setting with its default
  npm start             runs all services in one process, by default with embedded stores

A service that runs alone needs NATS_URL, DATABASE_URL and CLICKHOUSE_URL. The gateway, billing and delivery also need
MASTER_KEY: see docs/operations.md.
`;

/** A started program. */
interface Running extends Pick<RunningService, 'stop'> {
  /** Resolves with the reason when the program cannot continue. */
  givenUp?: Promise<Error>;
}

/**
 * Runs a program: starts it, waits for SIGINT, SIGTERM or SIGHUP, stops it. A signal during the start aborts
 * `stopping`; the program then exits after everything that was started is stopped again. After an error at the start,
 * the program prints the message of the error and exits with code 1. It prints the stack trace only with
 * LOG_LEVEL=debug, and never for a wrong setting. If `givenUp` resolves, the program prints one sentence and exits with
 * code 1 as well, so that a supervisor restarts it. With `--help` it prints how to start a service.
 * @param options the arguments that the program accepts; it refuses other arguments
 */
export async function runProgram<C extends { SHUTDOWN_GRACE_MS: number }>(
  readConfig: () => C,
  start: (config: C, stopping: AbortSignal) => Promise<Running>,
  options: readonly string[] = [],
): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const unknown = process.argv.slice(2).find((word) => !options.includes(word));
  if (unknown !== undefined)
    fail(new SettingsError(`unknown argument ${unknown}: settings are environment variables; see --help`));
  const stopping = new AbortController();
  // Further signals change nothing: an immediate exit would leave the stores running.
  const stop = () => stopping.abort();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  stopOnHangup(stop);
  // Waiting for a signal does not keep a process alive, so a timer does.
  setInterval(() => undefined, 2 ** 30);
  try {
    const config = readConfig();
    stopping.signal.addEventListener('abort', () => startStopTimer(config.SHUTDOWN_GRACE_MS));
    const running = await startUnlessStopped(() => start(config, stopping.signal), stopping.signal);
    const failure = stopping.signal.aborted ? undefined : await endOf(stopping.signal, running);
    if (failure) {
      console.error(`Earshot stops, because it cannot continue: ${failure.message}`);
      startStopTimer(config.SHUTDOWN_GRACE_MS);
    }
    await running?.stop();
    await stopTracing();
    process.exit(failure ? 1 : 0);
  } catch (error) {
    fail(error);
  }
}

/**
 * Waits for a stop signal, or until the program cannot continue.
 * @returns the reason why it cannot continue; undefined after a stop signal
 */
async function endOf(stopping: AbortSignal, running: Running | undefined): Promise<Error | undefined> {
  const asked = once(stopping, 'abort').then(() => undefined);
  return running?.givenUp ? Promise.race([asked, running.givenUp]) : asked;
}

/** Returns undefined if a stop signal made the start fail. */
async function startUnlessStopped(
  start: () => Promise<Running>,
  stopping: AbortSignal,
): Promise<Running | undefined> {
  try {
    return await start();
  } catch (error) {
    if (stopping.aborted) return undefined;
    throw error;
  }
}

/** Starts a timer that ends the process even if something hangs or fails. */
function startStopTimer(graceMs: number): void {
  setTimeout(() => {
    console.error('The stop took too long. Work that was still running was interrupted.');
    process.exit(1);
  }, graceMs + AFTER_GRACE_MS).unref();
  // Interrupted work can fail with an unhandled rejection, which by default would end the process during the stop.
  process.on('unhandledRejection', () => undefined);
}

function fail(error: unknown): never {
  const known = error instanceof SettingsError || process.env.LOG_LEVEL !== 'debug';
  console.error(known && error instanceof Error ? error.message : error);
  process.exit(1);
}
