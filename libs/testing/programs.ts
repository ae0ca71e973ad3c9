import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '#embedded';
import { checkout } from './checkout.js';
import type { IsolatedStores } from './stores.js';
import { until } from './until.js';

const SERVICES = ['gateway', 'keywords', 'polling', 'analysis', 'billing', 'delivery'] as const;

/** The name of a service. */
export type ServiceName = (typeof SERVICES)[number];

/** A process that runs one service, or all services (`earshot`). */
export interface Program {
  name: string;
  /** The address of its HTTP server. */
  url: string;
  child: ChildProcess;
  /** Returns the program's complete output until now. */
  output(): string;
  /** Ends the program with SIGTERM or another signal, and waits for its exit. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Settles when the process has exited. */
  ended: Promise<void>;
}

/** Returns the environment of programs under test. */
export function programEnv(stores: IsolatedStores, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NATS_URL: stores.natsUrl,
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    MASTER_KEY: '5e'.repeat(32),
    HOST: '127.0.0.1',
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    POLL_TICK_MS: '100',
    LANE_LEASE_MS: '1500',
    ...more,
  };
}

/**
 * Starts the built program of a service and waits until it is ready.
 * @throws Error if the program exits before it is ready (with its output), or is not ready within a minute
 */
export async function startProgram(name: ServiceName | 'earshot', env: NodeJS.ProcessEnv): Promise<Program> {
  const program = beginProgram(name, env, await freePort());
  const { child, url } = program;
  const state = await until(
    `${name} is ready`,
    async () => {
      if (child.exitCode !== null || child.signalCode !== null) return 'ended';
      return (await isReady(url, env['OPERATIONS_TOKEN'])) && 'ready';
    },
    // Twelve programs that start at the same time on two cores need a long time.
    60_000,
  );
  if (state === 'ended') throw new Error(`${name} ended before it was ready: ${program.output()}`);
  return program;
}

/**
 * Like `startProgram`, but does not wait until the program is ready, because some programs exit before they are ready.
 */
export function beginProgram(name: ServiceName | 'earshot', env: NodeJS.ProcessEnv, port: number): Program {
  const file = fileURLToPath(new URL(`dist/apps/${name}/main.js`, checkout));
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run build first`);
  const child = spawn(process.execPath, [file], {
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit').then(() => {});
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    child,
    output: () => output,
    ended,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
}

/** Starts a process for each name, by default one for each service, and waits until all are ready. */
export async function startServices(
  env: NodeJS.ProcessEnv,
  names: readonly ServiceName[] = SERVICES,
): Promise<Program[]> {
  return Promise.all(names.map((name) => startProgram(name, env)));
}

/** All services. */
export const ALL_SERVICES = SERVICES;

async function isReady(url: string, token?: string): Promise<boolean> {
  const { request } = await import('undici');
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await request(`${url}/readyz`, { headers });
  await answer.body.dump();
  return answer.statusCode === 200;
}
