import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

declare const connectionBrand: unique symbol;
declare const streamBrand: unique symbol;

/** One connection to the engine of this process. */
export type ChdbHandle = object & { readonly [connectionBrand]: true };
/** A SELECT whose result is read in pieces. */
export type ChdbStreamHandle = object & { readonly [streamBrand]: true };

/** A complete result. */
export interface ChdbAnswer {
  bytes: Uint8Array;
  rowsRead: number;
  bytesRead: number;
}

/**
 * The functions of chDB's addon that the bridge uses. `QueryAsyncConnection` and `StreamFetch` run on libuv's threads.
 */
export interface ChdbNative {
  /**
   * @param options options of clickhouse-local's command line; only the options of the first connection of the process
   * have an effect
   */
  CreateConnection(directory: string, options?: readonly string[]): ChdbHandle;
  /**
   * Closes a connection. Must not be called while anything runs on the connection: this would end the engine for the
   * whole process.
   */
  CloseConnection(connection: ChdbHandle): void;
  QueryAsyncConnection(connection: ChdbHandle, sql: string, format: string): Promise<ChdbAnswer>;
  /** Starts a stream. Blocks the process until the query is analysed (including scalar subqueries). */
  StreamQuery(connection: ChdbHandle, sql: string, format: string): ChdbStreamHandle;
  StreamFetch(stream: ChdbStreamHandle): Promise<{ done: boolean; bytes: Uint8Array; numRows: number }>;
  /** Ends a stream. Must not be called while a fetch runs. */
  StreamCancel(stream: ChdbStreamHandle): void;
}

/**
 * Loads the addon without the package's own classes. These classes close a connection only after every operation of the
 * process has ended. During a query of one minute, a few hundred small queries per second would each leave 0.2 MB in
 * memory.
 */
export function loadChdb(): ChdbNative {
  const require = createRequire(import.meta.url);
  const loader = join(dirname(require.resolve('chdb')), 'dist', 'loader.js');
  return (require(loader) as { loadNative(): ChdbNative }).loadNative();
}
