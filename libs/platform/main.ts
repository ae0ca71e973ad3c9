import { SettingsError } from '#config';
import type { RunningService } from './service.js';

/**
 * The frame of every program: starts, waits for SIGINT or SIGTERM, stops within the grace time. What goes wrong at
 * the start is one clear message and exit code 1, never a stack trace for a bad setting.
 */
export async function runProgram<C extends { SHUTDOWN_GRACE_MS: number }>(
  readConfig: () => C,
  start: (config: C) => Promise<Pick<RunningService, 'stop'>>,
): Promise<void> {
  let stopping = false;
  let running: Pick<RunningService, 'stop'> | undefined;
  let graceMs = 8000;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), graceMs + 1500).unref();
    const stopped = running ? running.stop() : Promise.resolve();
    stopped.then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    const config = readConfig();
    graceMs = config.SHUTDOWN_GRACE_MS;
    running = await start(config);
    if (stopping) await running.stop();
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): never {
  const known = error instanceof SettingsError || process.env.LOG_LEVEL !== 'debug';
  console.error(known && error instanceof Error ? error.message : error);
  process.exit(1);
}
