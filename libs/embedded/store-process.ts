import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { childEnvironment } from './child-environment.js';
import { endProcess } from './end-process.js';
import { freePort } from './free-port.js';
import { commandLine, identify, isRunning, parseIdentity } from './process-identity.js';

/** A logger with pino's methods. */
export interface EmbeddedLog {
  info(message: string): void;
  warn(message: string): void;
}

/** The options of every store. */
export interface StoreHost {
  dataDir: string;
  log: EmbeddedLog;
  /** The lock of the stores (`StoresLock`), which the store's process inherits. */
  lockFd: number;
  /**
   * Called once if a store will not be started again: it has ended more than five times in a minute, or it cannot be
   * used after a restart.
   */
  onGivenUp(reason: Error): void;
  /** Cancels a running start. */
  signal?: AbortSignal | undefined;
}

/** How to run a store's program. */
export interface StoreCommand {
  name: 'nats' | 'postgres' | 'clickhouse';
  file: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  uid?: number | undefined;
  gid?: number | undefined;
  /**
   * Keeps a pipe to the program's stdin open. When this process dies for any reason, the program reads the end of the
   * pipe, and stops.
   */
  holdStdin?: boolean;
  stopSignal: NodeJS.Signals;
  /**
   * Returns whether the store answers. Called repeatedly during a start, until the store answers or the start fails.
   */
  isReady(): Promise<boolean>;
}

const READY_WITHIN_MS = 120_000;
const READY_POLL_MS = 25;
/**
 * How long a store can take to stop before it gets SIGKILL, which damages no store. With this limit and the default of
 * `SHUTDOWN_GRACE_MS` (5 s), a stop of Earshot takes less than ten seconds.
 */
const STOP_GRACE_MS = 3_500;
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
const MAX_LOG_FILE_BYTES = 5_000_000;
const PORT_ATTEMPTS = 3;

/** The running stores of this process. */
const living = new Set<StoreProcess>();

// The stores are detached. Without this handler, they would survive a process that exits without stopping them.
process.on('exit', () => living.forEach((store) => store.endAtExit()));

/** The program of a store in a separate process, restarted when it exits unexpectedly. */
export class StoreProcess {
  private child: ChildProcess | undefined;
  private stopping = false;
  private restarts: number[] = [];

  private constructor(
    private readonly host: StoreHost,
    private readonly command: StoreCommand,
  ) {}

  /**
   * Starts the program. Resolves when the store answers.
   * @throws Error if the program does not answer in time, or exits first (then with the last lines of its log); the reason
   *   of the signal if the signal is aborted first. After any of these errors, the program does not run
   */
  static async start(host: StoreHost, command: StoreCommand): Promise<StoreProcess> {
    const { signal } = host;
    signal?.throwIfAborted();
    const store = new StoreProcess(host, command);
    try {
      await store.launch(signal);
    } catch (error) {
      await store.stop();
      throw error;
    }
    return store;
  }

  /** Ends the program. Resolves when it has exited, at the latest `STOP_GRACE_MS` after SIGKILL. */
  async stop(): Promise<void> {
    this.stopping = true;
    const child = this.child;
    if (child?.pid === undefined || hasEnded(child)) return this.forget();
    const identity = identify(child.pid);
    if (identity) await endProcess(identity, this.command.stopSignal, STOP_GRACE_MS);
    this.forget();
  }

  /**
   * Signals the program to end, or kills the program if it was signalled before. Called when this process exits,
   * because then nothing can be awaited.
   */
  endAtExit(): void {
    const pid = this.child?.pid;
    if (pid === undefined || !this.child || hasEnded(this.child)) return;
    try {
      process.kill(pid, this.stopping ? 'SIGKILL' : this.command.stopSignal);
    } catch {
      // The program has already exited.
    }
  }

  private async launch(signal?: AbortSignal): Promise<void> {
    const { name, isReady } = this.command;
    const child = this.spawnChild();
    let failure: Error | undefined;
    child.once('error', (error) => (failure = error));
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!(await isReady())) {
      if (failure) throw new Error(`${name} did not start: ${failure.message}`);
      if (hasEnded(child)) throw new Error(`${name} ended while starting: ${this.lastLogLines()}`);
      signal?.throwIfAborted();
      if (this.stopping) throw new Error(`${name} was stopped while starting`);
      if (Date.now() > deadline) throw new Error(`${name} did not answer in ${READY_WITHIN_MS / 1000} s`);
      await after(READY_POLL_MS);
    }
    // The answer can come from another program that took the port first. Then our program has exited, or will exit
    // soon.
    if (hasEnded(child)) throw new Error(`${name} ended while starting: ${this.lastLogLines()}`);
    child.once('exit', (code, signal) => this.onUnexpectedExit(code, signal));
  }

  /** @throws Error if the pid file cannot be written, for example on a full disk. The program runs in this case */
  private spawnChild(): ChildProcess {
    const { name, file, args, env, uid, gid, holdStdin } = this.command;
    const logFd = openLog(this.host.dataDir, name);
    const stdio: StdioOptions = [holdStdin ? 'pipe' : 'ignore', logFd, logFd, this.host.lockFd];
    try {
      // The program is detached, so that a Ctrl-C in the terminal reaches only this process. This process finishes its
      // work before it stops the stores.
      const child = spawn(file, args, {
        stdio,
        detached: true,
        cwd: '/',
        env: childEnvironment(env),
        ...(uid === undefined ? {} : { uid, gid }),
      });
      child.stdin?.on('error', () => undefined);
      // Set before the pid file is written, so that `stop` can end the program if the file cannot be written.
      this.child = child;
      living.add(this);
      const identity = child.pid === undefined ? undefined : identify(child.pid);
      if (identity)
        writeFileSync(pidFile(this.host.dataDir, name), JSON.stringify(identity), { mode: 0o600 });
      return child;
    } finally {
      closeSync(logFd);
    }
  }

  private onUnexpectedExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.stopping) return;
    const { name } = this.command;
    const now = Date.now();
    this.restarts = [...this.restarts.filter((at) => now - at < RESTART_WINDOW_MS), now];
    const how = signal ? `signal ${signal}` : `exit code ${code}`;
    if (this.restarts.length > MAX_RESTARTS)
      return this.giveUp(`it ended ${this.restarts.length} times (${how})`);
    this.host.log.warn(`${name} exited by itself (${how}); restarting it`);
    void this.relaunch();
  }

  private async relaunch(): Promise<void> {
    await after(200 * 2 ** (this.restarts.length - 1));
    if (this.stopping) return;
    try {
      await this.launch();
      this.host.log.info(`${this.command.name} is back`);
    } catch (error) {
      if (this.stopping) return;
      this.host.log.warn((error as Error).message);
      // A program that neither answers nor exits would keep the data locked, so that the program could not be started
      // again.
      if (this.child && !hasEnded(this.child))
        return this.giveUp(`it runs but cannot be used (${(error as Error).message})`);
      this.onUnexpectedExit(this.child?.exitCode ?? null, this.child?.signalCode ?? null);
    }
  }

  private giveUp(why: string): void {
    const { name } = this.command;
    const log = logFile(this.host.dataDir, name);
    this.host.onGivenUp(
      new Error(
        `${name} is not started again: ${why}. Its last output: ${this.lastLogLines()} (the whole log: ${log})`,
      ),
    );
  }

  private forget(): void {
    living.delete(this);
    rmSync(pidFile(this.host.dataDir, this.command.name), { force: true });
  }

  private lastLogLines(): string {
    const lines = readFileSync(logFile(this.host.dataDir, this.command.name), 'utf8')
      .split('\n')
      .filter(Boolean);
    return lines.slice(-3).join(' | ') || 'it printed nothing';
  }
}

/**
 * Starts a store on a free port. If another program takes the port before the store does, tries up to two more ports.
 */
export async function startOnFreePort(
  host: StoreHost,
  command: (port: number) => StoreCommand,
): Promise<{ store: StoreProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { store: await StoreProcess.start(host, command(port)), port };
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || !/in use/i.test((error as Error).message)) throw error;
    }
  }
}

/**
 * Ends a store that an earlier run left behind (after kill -9 of the store's parent). Returns true if there was such a
 * store.
 */
export async function endOrphan(
  dataDir: string,
  name: StoreCommand['name'],
  signal: NodeJS.Signals,
): Promise<boolean> {
  const file = pidFile(dataDir, name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return false;
  }
  const identity = parseIdentity(text);
  // The command line of each store names a file or a directory directly in its data directory.
  const isOurs =
    identity && isRunning(identity) && commandLine(identity.pid).some((word) => dirname(word) === dataDir);
  // If the process is not ours, the file is kept, because it can belong to another container, whose processes this
  // process cannot see.
  if (!isOurs) return false;
  await endProcess(identity, signal, STOP_GRACE_MS);
  rmSync(file, { force: true });
  return true;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function pidFile(dataDir: string, name: string): string {
  return join(dataDir, `${name}.pid`);
}

function logFile(dataDir: string, name: string): string {
  return join(dataDir, 'logs', `${name}.log`);
}

function openLog(dataDir: string, name: string): number {
  const file = logFile(dataDir, name);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  const isTooLong = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_FILE_BYTES;
  return openSync(file, isTooLong ? 'w' : 'a', 0o600);
}
