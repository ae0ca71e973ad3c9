import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

declare const connectionBrand: unique symbol;
declare const streamBrand: unique symbol;

/** One connection to the engine of this process. */
export type ChdbHandle = object & { readonly [connectionBrand]: true };
/** A SELECT whose result is fetched piece by piece. */
export type ChdbStreamHandle = object & { readonly [streamBrand]: true };

/** A whole result. */
export interface ChdbAnswer {
  bytes: Uint8Array;
  rowsRead: number;
  bytesRead: number;
}

/** chDB's addon, as far as it is used here. Everything ending in Async, and StreamFetch, runs on libuv's threads. */
export interface ChdbNative {
  /** @param options clickhouse-local's, as on its command line; those of the process's first connection count */
  CreateConnection(directory: string, options?: readonly string[]): ChdbHandle;
  /** Must not be called while anything runs on the connection: that ends the engine for the whole process. */
  CloseConnection(connection: ChdbHandle): void;
  QueryAsyncConnection(connection: ChdbHandle, sql: string, format: string): Promise<ChdbAnswer>;
  /** Blocks until the query is analysed (scalar subqueries included). */
  StreamQuery(connection: ChdbHandle, sql: string, format: string): ChdbStreamHandle;
  StreamFetch(stream: ChdbStreamHandle): Promise<{ done: boolean; bytes: Uint8Array; numRows: number }>;
  /** Must not be called while a fetch runs. */
  StreamCancel(stream: ChdbStreamHandle): void;
}

/**
 * The addon under the package's own classes. Those put off closing a connection until every operation of the whole
 * process has ended: beside one query of a minute, a few hundred small ones a second would leave 0.2 MB each.
 */
export function loadChdb(): ChdbNative {
  const require = createRequire(import.meta.url);
  const loader = join(dirname(require.resolve('chdb')), 'dist', 'loader.js');
  return (require(loader) as { loadNative(): ChdbNative }).loadNative();
}
