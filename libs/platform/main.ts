import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { SettingsError } from '#config';
import { stopTracing } from '#telemetry';
import type { RunningService } from './service.js';

/**
 * Percent by which the heap may grow beyond what lives before garbage is collected. V8 was seen to let it grow from 110 to
 * 300 MiB between two collections on a busy machine (`bench:soak`).
 */
const HEAP_GROWTH_PERCENT = 50;

/** What is left to the stores and the connections after the services' grace, all in all. */
const AFTER_GRACE_MS = 4800;

const HELP = `A single Earshot service. It takes no arguments: its settings are environment variables.

  npm run -s config     lists every setting with its default
  npm start             runs all services in one process, with embedded stores

A service that runs alone needs NATS_URL. Most services also need DATABASE_URL, CLICKHOUSE_URL and MASTER_KEY: see
docs/operations.md.
`;

/** What runs. */
interface Running extends Pick<RunningService, 'stop'> {
  /** Resolves when it cannot go on, with the reason. */
  givenUp?: Promise<Error>;
}

/**
 * The frame of every program: starts, waits for SIGINT or SIGTERM, stops. A signal during the start gives the start
 * up (`stopping` is aborted) and waits until what it made is ended again. What goes wrong at the start is one clear
 * message and exit code 1, never a stack trace for a bad setting. What gives up while it runs (`givenUp`) is one sentence
 * and exit code 1 as well, so that a supervisor starts it again. With `--help` it prints how a service is started.
 */
export async function runProgram<C extends { SHUTDOWN_GRACE_MS: number }>(
  readConfig: () => C,
  start: (config: C, stopping: AbortSignal) => Promise<Running>,
): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
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
    const failure = stopping.signal.aborted ? undefined : await endOf(stopping.signal, running);
    if (failure) {
      console.error(`Earshot ends, since it cannot go on: ${failure.message}`);
      beginToEnd(config.SHUTDOWN_GRACE_MS);
    }
    await running?.stop();
    await stopTracing();
    process.exit(failure ? 1 : 0);
  } catch (error) {
    fail(error);
  }
}

/** Waits until a stop is asked for, or until what runs gives up: then with the reason. */
async function endOf(stopping: AbortSignal, running: Running | undefined): Promise<Error | undefined> {
  const asked = once(stopping, 'abort').then(() => undefined);
  return running?.givenUp ? Promise.race([asked, running.givenUp]) : asked;
}

/** Undefined when a stop was asked for meanwhile and made the start fail. */
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
