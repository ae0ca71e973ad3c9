import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import PQueue from 'p-queue';
import { loadChdb, type ChdbAnswer, type ChdbHandle, type ChdbNative } from './chdb-native.js';
import { ClickhouseException, fromEngineError } from './clickhouse-exception.js';

/**
 * Maximum number of concurrent statements. Each statement uses one of libuv's threads. At least half of the threads stay
 * free (if there are two or more), because KILL QUERY could not start without a free thread.
 */
const MAX_RUNNING_STATEMENTS = Math.min(
  8,
  Math.max(1, Math.floor(Number(process.env.UV_THREADPOOL_SIZE ?? 4) / 2)),
);
const MAX_WAITING_STATEMENTS = 2_000;
const DEFAULT_MAX_EXECUTION_SECONDS = '120';
const KILL_AGAIN_AFTER_MS = 50;
/** ClickHouse's own limit of a statement's length; a SET with long parameters needs a higher limit. */
const DEFAULT_MAX_QUERY_BYTES = 262_144;

/** The settings and parameters of a statement. */
export interface StatementContext {
  database?: string | undefined;
  settings: ReadonlyMap<string, string>;
  parameters: ReadonlyMap<string, string>;
  isReadOnly: boolean;
}

/**
 * The chDB engine of this process. Every request gets a new connection, which is closed afterwards. So no request can
 * see data of an earlier request (settings, parameters, the remainder of a failed result). A new connection costs 0.3
 * ms.
 */
export class Engine {
  private readonly queue = new PQueue({ concurrency: MAX_RUNNING_STATEMENTS });

  private constructor(
    private readonly native: ChdbNative,
    private readonly directory: string,
    /** Always open, because the engine ends when its last connection closes. */
    private readonly root: ChdbHandle,
    readonly version: string,
    readonly timezone: string,
    /** Names of the engine's table functions, in lower case. */
    readonly tableFunctions: ReadonlySet<string>,
  ) {}

  /**
   * Opens the engine.
   * @param options from `engineOptions`
   * @throws Error if the directory cannot be opened
   */
  static async open(directory: string, options: readonly string[]): Promise<Engine> {
    const native = loadChdb();
    const root = native.CreateConnection(directory, options);
    const cells = async (sql: string) => {
      const { bytes } = await native.QueryAsyncConnection(root, sql, 'TabSeparated');
      return Buffer.from(bytes)
        .toString()
        .trim()
        .split(/[\t\n]/);
    };
    const [version = '', timezone = ''] = await cells('SELECT version(), timezone()');
    const functions = await cells('SELECT lower(name) FROM system.table_functions');
    return new Engine(native, directory, root, version, timezone, new Set(functions));
  }

  /**
   * Runs `work` on a new connection as soon as fewer than the maximum number of statements run.
   * @param disconnected aborts when the client has disconnected; then the statement is killed
   * @throws ClickhouseException with the engine's error; 202 if too many statements are already waiting; 394 if the
   *   client has disconnected before the work begins
   */
  async use<T>(
    context: StatementContext,
    disconnected: AbortSignal,
    work: (connection: EngineConnection) => Promise<T>,
  ): Promise<T> {
    if (this.queue.size >= MAX_WAITING_STATEMENTS)
      throw new ClickhouseException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many statements are waiting');
    return this.queue.add(() => this.runOnNewConnection(context, disconnected, work)) as Promise<T>;
  }

  /** Resolves when no statement runs or waits. */
  async idle(): Promise<void> {
    await this.queue.onIdle();
  }

  /** Ends the engine. Must only be called if no statement is running. */
  close(): void {
    this.native.CloseConnection(this.root);
  }

  private async runOnNewConnection<T>(
    context: StatementContext,
    disconnected: AbortSignal,
    work: (connection: EngineConnection) => Promise<T>,
  ): Promise<T> {
    throwIfDisconnected(disconnected);
    const handle = this.native.CreateConnection(this.directory);
    const tag = `bridge:${randomUUID()}`;
    const ended = new AbortController();
    const killing = this.killAfterDisconnect(tag, disconnected, ended.signal);
    try {
      const connection = new EngineConnection(this.native, handle);
      for (const sql of settingStatements(context, tag)) await connection.all(sql, 'Null');
      throwIfDisconnected(disconnected);
      return await work(connection);
    } catch (error) {
      throw fromEngineError(error);
    } finally {
      ended.abort();
      await killing;
      this.native.CloseConnection(handle);
    }
  }

  /**
   * Kills the statement when the client has disconnected. A call of the engine cannot be interrupted, except by KILL
   * QUERY from another connection. It is possible that the statement has not started at the first KILL, so the KILL is
   * repeated until the statement has ended. (`SYNC` would never return.)
   */
  private async killAfterDisconnect(
    tag: string,
    disconnected: AbortSignal,
    ended: AbortSignal,
  ): Promise<void> {
    await eitherAborts(disconnected, ended);
    while (!ended.aborted) {
      const killer = this.native.CreateConnection(this.directory);
      const sql = `KILL QUERY WHERE startsWith(Settings['log_comment'], '${tag}') ASYNC`;
      await this.native.QueryAsyncConnection(killer, sql, 'Null').catch(() => undefined);
      this.native.CloseConnection(killer);
      await after(KILL_AGAIN_AFTER_MS, undefined, { signal: ended }).catch(() => undefined);
    }
  }
}

/** The connection of one request. */
export class EngineConnection {
  constructor(
    private readonly native: ChdbNative,
    private readonly handle: ChdbHandle,
  ) {}

  /** Runs a statement and returns its complete result. */
  all(sql: string, format: string): Promise<ChdbAnswer> {
    return this.native.QueryAsyncConnection(this.handle, sql, format);
  }

  /** Yields a SELECT's result in pieces. If the caller leaves the loop early, the statement ends. */
  async *stream(sql: string, format: string): AsyncGenerator<Uint8Array> {
    const stream = this.native.StreamQuery(this.handle, sql, format);
    let isOpen = true;
    try {
      for (;;) {
        const piece = await this.native.StreamFetch(stream).catch((error: unknown) => {
          isOpen = false;
          throw error;
        });
        if (piece.done) {
          isOpen = false;
          return;
        }
        yield piece.bytes;
      }
    } finally {
      if (isOpen) this.native.StreamCancel(stream);
    }
  }
}

function* settingStatements(context: StatementContext, tag: string): Generator<string> {
  const settings = new Map(context.settings);
  settings.set('log_comment', `${tag} ${settings.get('log_comment') ?? ''}`);
  if (Number(settings.get('max_execution_time') ?? 0) <= 0)
    settings.set('max_execution_time', DEFAULT_MAX_EXECUTION_SECONDS);
  // The library chDB accepts the query "1 + 1", but a server refuses it.
  if (!settings.has('implicit_select')) settings.set('implicit_select', '0');
  // `readonly` is the last setting, because it prevents changes of settings after it.
  if (context.isReadOnly) settings.set('readonly', '2');
  const assignments = [
    ...[...context.parameters].map(([name, value]) => `param_${name} = ${quoted(value)}`),
    ...[...settings].map(([name, value]) => `${name} = ${quoted(value)}`),
  ].join(', ');
  if (assignments.length > DEFAULT_MAX_QUERY_BYTES / 4)
    yield `SET max_query_size = ${Math.max(DEFAULT_MAX_QUERY_BYTES, assignments.length * 4)}`;
  if (context.database) yield `USE \`${context.database.replace(/[\\`]/g, '\\$&')}\``;
  yield `SET ${assignments}`;
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
}

function throwIfDisconnected(disconnected: AbortSignal): void {
  if (disconnected.aborted)
    throw new ClickhouseException(394, 'QUERY_WAS_CANCELLED', 'The client does not wait any more');
}

function eitherAborts(...signals: AbortSignal[]): Promise<void> {
  const any = AbortSignal.any(signals);
  if (any.aborted) return Promise.resolve();
  return new Promise((resolve) => any.addEventListener('abort', () => resolve(), { once: true }));
}
