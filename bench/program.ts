import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { freePort, type EmbeddedStores } from '#embedded';
import type { Cleanup } from './harness.js';

/** A running program of Earshot. */
export interface BenchProgram {
  url: string;
  pid: number;
  /** Suspends the program, so that work accumulates. */
  suspend(): void;
  resume(): void;
  stop(): Promise<void>;
}

export const MASTER_KEY = 'be'.repeat(32);
const READY_WITHIN_MS = 30_000;

/** Returns the environment of programs that use a bench's stores. */
export function programEnv(stores: EmbeddedStores, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NATS_URL: stores.natsUrl,
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    MASTER_KEY,
    HOST: '127.0.0.1',
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'error',
    ...more,
  };
}

/**
 * Starts `dist/apps/<name>/main.js` in a separate process and waits until it is ready. `EARSHOT_BENCH_NODE` contains
 * further arguments for node, for example `--cpu-prof`.
 */
export async function startProgram(
  name: string,
  env: NodeJS.ProcessEnv,
  cleanup: Cleanup,
  { args = () => [], ready = '/readyz' }: { args?: (port: number) => string[]; ready?: string } = {},
): Promise<BenchProgram> {
  const port = await freePort();
  const file = fileURLToPath(new URL(`../apps/${name}/main.js`, import.meta.url));
  const nodeArguments = (process.env.EARSHOT_BENCH_NODE ?? '').split(' ').filter(Boolean);
  const child = spawn(process.execPath, [...nodeArguments, file, ...args(port)], {
    env: { ...env, PORT: String(port) },
    // Standard output is reserved for the bench.
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = () => child.exitCode === null && child.signalCode === null;
  const program: BenchProgram = {
    url,
    pid: child.pid ?? 0,
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      if (!isUp()) return;
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
  cleanup.add(() => program.stop());
  const end = Date.now() + READY_WITHIN_MS;
  while (isUp() && Date.now() < end) {
    if (await isReady(`${url}${ready}`)) return program;
    await wait(50);
  }
  throw new Error(`${name} did not become ready`);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(url);
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
