import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { childEnvironment } from './child-environment.js';
import { endProcess } from './end-process.js';
import { freePort } from './free-port.js';
import { commandLine, identify, isRunning, parseIdentity } from './process-identity.js';

/** Where to log: pino's shape, so that a pino logger fits as it is. */
export interface EmbeddedLog {
  info(message: string): void;
  warn(message: string): void;
}

/** What every store is started with. */
export interface StoreHost {
  dataDir: string;
  log: EmbeddedLog;
  /** The lock on the data directory that the store's process holds with us. */
  lockFd: number;
  /** Called once for a store that keeps ending and is not started again. */
  onGivenUp(reason: Error): void;
  /** Ends a start that is under way. */
  signal?: AbortSignal | undefined;
}

/** How one store's program is run. */
export interface StoreCommand {
  name: 'nats' | 'postgres' | 'clickhouse';
  file: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  uid?: number | undefined;
  gid?: number | undefined;
  /** Keeps a pipe to the program's stdin open; when we die, however we die, it reads the end. */
  holdStdin?: boolean;
  stopSignal: NodeJS.Signals;
  /** True as soon as the store answers. Asked again and again until then. */
  isReady(): Promise<boolean>;
}

const READY_WITHIN_MS = 120_000;
const READY_POLL_MS = 25;
/** Together with the services' own grace it leaves a stop below ten seconds; every store survives being killed. */
const STOP_GRACE_MS = 3_500;
const RESTARTS_AT_MOST = 5;
const RESTART_WINDOW_MS = 60_000;
const LOG_FILE_BYTES_AT_MOST = 5_000_000;
const PORT_ATTEMPTS = 3;

/** The stores of this process that run. */
const living = new Set<StoreProcess>();

// The last net: the stores are detached, and would outlive a process that ends without having stopped them.
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
   * Starts the program and resolves when the store answers.
   *
   * @throws Error with the last lines of the program's log when it ends before that; the signal's reason when it is
   * aborted before that. The program runs in neither case.
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

  /** Ends the program. Resolves when it has gone. */
  async stop(): Promise<void> {
    this.stopping = true;
    const child = this.child;
    if (child?.pid === undefined || hasEnded(child)) return this.forget();
    const identity = identify(child.pid);
    if (identity) await endProcess(identity, this.command.stopSignal, STOP_GRACE_MS);
    this.forget();
  }

  /** Without waiting, since nothing can be awaited any more: asks the program to end, or ends it if it was asked. */
  endAtExit(): void {
    const pid = this.child?.pid;
    if (pid === undefined || !this.child || hasEnded(this.child)) return;
    try {
      process.kill(pid, this.stopping ? 'SIGKILL' : this.command.stopSignal);
    } catch {
      // It has gone.
    }
  }

  private async launch(signal?: AbortSignal): Promise<void> {
    const { name, isReady } = this.command;
    const child = this.spawnChild();
    this.child = child;
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
    // The port may be another program's, which was faster: then ours has ended, or is about to.
    if (hasEnded(child)) throw new Error(`${name} ended while starting: ${this.lastLogLines()}`);
    child.once('exit', (code, signal) => this.onUnexpectedExit(code, signal));
  }

  private spawnChild(): ChildProcess {
    const { name, file, args, env, uid, gid, holdStdin } = this.command;
    const logFd = openLog(this.host.dataDir, name);
    const stdio: StdioOptions = [holdStdin ? 'pipe' : 'ignore', logFd, logFd, this.host.lockFd];
    try {
      // Detached: a Ctrl-C in the terminal must reach us alone, so that we can drain before the stores go.
      const child = spawn(file, args, {
        stdio,
        detached: true,
        cwd: '/',
        env: childEnvironment(env),
        ...(uid === undefined ? {} : { uid, gid }),
      });
      child.stdin?.on('error', () => undefined);
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
    if (this.restarts.length > RESTARTS_AT_MOST)
      return this.giveUp(`it ended ${this.restarts.length} times (${how})`);
    this.host.log.warn(`${name} ended by itself (${how}); starting it again`);
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
      // One that neither answers nor ends would hold the data against its successor.
      if (this.child && !hasEnded(this.child)) return this.giveUp('it runs and does not answer');
      this.onUnexpectedExit(this.child?.exitCode ?? null, this.child?.signalCode ?? null);
    }
  }

  private giveUp(why: string): void {
    const { name } = this.command;
    const log = logFile(this.host.dataDir, name);
    this.host.onGivenUp(
      new Error(
        `${name} is not started again: ${why}. Its last words: ${this.lastLogLines()} (all of them: ${log})`,
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
    return lines.slice(-3).join(' | ') || 'it said nothing';
  }
}

/** Starts a store on a free port, on another one when somebody else took that port in between. */
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

/** Ends a store that an earlier run left behind (kill -9 of its parent). True when there was one. */
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
  const isOurs =
    identity && isRunning(identity) && commandLine(identity.pid).some((word) => word.includes(dataDir));
  // Otherwise the file may name a process that we cannot see: of another container.
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
  const isTooLong = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_FILE_BYTES_AT_MOST;
  return openSync(file, isTooLong ? 'w' : 'a', 0o600);
}
