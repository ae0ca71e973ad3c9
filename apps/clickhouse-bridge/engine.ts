import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import PQueue from 'p-queue';
import { loadChdb, type ChdbAnswer, type ChdbHandle, type ChdbNative } from './chdb-native.js';
import { ClickhouseException, fromEngineError } from './clickhouse-exception.js';

/**
 * How many statements run at once. Each holds one of libuv's threads, and as many stay free: without one, KILL
 * QUERY could not even begin.
 */
const STATEMENTS_AT_ONCE = Math.min(
  8,
  Math.max(1, Math.floor(Number(process.env.UV_THREADPOOL_SIZE ?? 4) / 2)),
);
const STATEMENTS_WAITING_AT_MOST = 2_000;
const DEFAULT_MAX_EXECUTION_SECONDS = '120';
const KILL_AGAIN_AFTER_MS = 50;
/** ClickHouse's own limit of a statement's length; the SET that carries long parameters needs a higher one. */
const DEFAULT_MAX_QUERY_BYTES = 262_144;

/** What a statement runs under. */
export interface StatementContext {
  database?: string | undefined;
  settings: ReadonlyMap<string, string>;
  parameters: ReadonlyMap<string, string>;
  isReadOnly: boolean;
}

/**
 * chDB, which this process owns. Every request gets a connection of its own and throws it away afterwards: that
 * costs 0.3 ms, and nothing of a request (settings, parameters, the rest of a result that ended in an error) can
 * ever be seen by the next.
 */
export class Engine {
  private readonly queue = new PQueue({ concurrency: STATEMENTS_AT_ONCE });

  private constructor(
    private readonly native: ChdbNative,
    private readonly directory: string,
    /** Held open all the time: with its last connection the engine would end. */
    private readonly root: ChdbHandle,
    readonly version: string,
    readonly timezone: string,
    /** Names of its table functions, in lower case. */
    readonly tableFunctions: ReadonlySet<string>,
  ) {}

  /**
   * @param options as `engineOptions` returns them
   * @throws ClickhouseException when the directory cannot be opened.
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
   * Runs `work` on a connection that nobody else has, as soon as one may run.
   *
   * @param gone aborts when nobody waits for the result any more: what runs is killed.
   * @throws ClickhouseException whatever the engine says; 202 when too many wait already.
   */
  async use<T>(
    context: StatementContext,
    gone: AbortSignal,
    work: (connection: EngineConnection) => Promise<T>,
  ): Promise<T> {
    if (this.queue.size >= STATEMENTS_WAITING_AT_MOST)
      throw new ClickhouseException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many statements are waiting');
    return this.queue.add(() => this.runExclusively(context, gone, work)) as Promise<T>;
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    await this.queue.onIdle();
  }

  /** Ends the engine. Nothing may run any more. */
  close(): void {
    this.native.CloseConnection(this.root);
  }

  private async runExclusively<T>(
    context: StatementContext,
    gone: AbortSignal,
    work: (connection: EngineConnection) => Promise<T>,
  ): Promise<T> {
    throwIfGone(gone);
    const handle = this.native.CreateConnection(this.directory);
    const tag = `bridge:${randomUUID()}`;
    const settled = new AbortController();
    const killing = this.killWhenGone(tag, gone, settled.signal);
    try {
      const connection = new EngineConnection(this.native, handle);
      for (const sql of prologue(context, tag)) await connection.all(sql, 'Null');
      throwIfGone(gone);
      return await work(connection);
    } catch (error) {
      throw fromEngineError(error);
    } finally {
      settled.abort();
      await killing;
      this.native.CloseConnection(handle);
    }
  }

  /**
   * The engine has no way to interrupt a call; KILL QUERY from another connection has. A statement may not have
   * begun when the first KILL comes, so it is sent until the statement has ended. (`SYNC` would never return.)
   */
  private async killWhenGone(tag: string, gone: AbortSignal, settled: AbortSignal): Promise<void> {
    await eitherAborts(gone, settled);
    while (!settled.aborted) {
      const killer = this.native.CreateConnection(this.directory);
      const sql = `KILL QUERY WHERE startsWith(Settings['log_comment'], '${tag}') ASYNC`;
      await this.native.QueryAsyncConnection(killer, sql, 'Null').catch(() => undefined);
      this.native.CloseConnection(killer);
      await after(KILL_AGAIN_AFTER_MS, undefined, { signal: settled }).catch(() => undefined);
    }
  }
}

/** A connection of one request. */
export class EngineConnection {
  constructor(
    private readonly native: ChdbNative,
    private readonly handle: ChdbHandle,
  ) {}

  /** Runs a statement and gives its whole result. */
  all(sql: string, format: string): Promise<ChdbAnswer> {
    return this.native.QueryAsyncConnection(this.handle, sql, format);
  }

  /** A SELECT's result piece by piece. Leaving the loop early ends it. */
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

function* prologue(context: StatementContext, tag: string): Generator<string> {
  const settings = new Map(context.settings);
  settings.set('log_comment', `${tag} ${settings.get('log_comment') ?? ''}`);
  if (Number(settings.get('max_execution_time') ?? 0) <= 0)
    settings.set('max_execution_time', DEFAULT_MAX_EXECUTION_SECONDS);
  // Only a library answers "1 + 1"; a server says that it is no query.
  if (!settings.has('implicit_select')) settings.set('implicit_select', '0');
  // Last: nothing can be set behind it.
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

function throwIfGone(gone: AbortSignal): void {
  if (gone.aborted) throw new ClickhouseException(394, 'QUERY_WAS_CANCELLED', 'Nobody waits for it any more');
}

function eitherAborts(...signals: AbortSignal[]): Promise<void> {
  const any = AbortSignal.any(signals);
  if (any.aborted) return Promise.resolve();
  return new Promise((resolve) => any.addEventListener('abort', () => resolve(), { once: true }));
}
