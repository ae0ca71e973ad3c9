import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { ClickHouseError, ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { Outage, Refusal } from '#kernel';
import { inSpan, SpanKind } from '#telemetry';
import { TABLES } from './tables.js';

export type { ClickHouseClient } from '@clickhouse/client';

/**
 * Connects, and creates the tables and columns that do not exist yet, unless `createsTables` is false.
 * @param url `http://[user:password@]host:port[/database]`
 * @param name the name of the service, shown by ClickHouse
 * @throws Outage if ClickHouse cannot be reached; the error of the server if it refuses a statement; Error if tables or
 *   columns are missing and `createsTables` is false
 */
export async function openClickHouse(
  url: string,
  name: string,
  { createsTables = true } = {},
): Promise<ClickHouseClient> {
  const client = newClient(url, name);
  try {
    if (!(await areTablesReady(client))) {
      if (!createsTables)
        throw new Error(
          'this ClickHouse has no tables of Earshot, or older ones; check its address, and start Earshot before this command',
        );
      await createTables(client);
    }
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/**
 * Returns a client that does what `openClickHouse` does before its first statement. While ClickHouse cannot be reached,
 * every statement throws an `Outage`.
 */
export function openClickHouseLater(url: string, name: string): ClickHouseClient {
  const client = newClient(url, name);
  let opened: Promise<void> | undefined;
  const open = () =>
    (opened ??= forAllCallers(() => openClickHouse(url, name))
      .then((other) => other.close())
      .catch((error: unknown) => {
        opened = undefined;
        throw error;
      }));
  const onceOpen =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      await open();
      return ask(...args);
    };
  client.query = onceOpen(client.query) as ClickHouseClient['query'];
  client.insert = onceOpen(client.insert) as ClickHouseClient['insert'];
  client.command = onceOpen(client.command);
  return client;
}

function newClient(url: string, name: string): ClickHouseClient {
  const client = createClient({
    url,
    application: `earshot-${name}`,
    max_open_connections: 16,
    request_timeout: 60_000,
    keep_alive: { enabled: true, idle_socket_ttl: 2000 },
    // The client throws errors, and the caller logs them.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { date_time_input_format: 'best_effort' },
  });
  throwOutages(client);
  return client;
}

const HASH = createHash('sha256').update(TABLES.join('\n')).digest('hex');
const NAMES = TABLES.flatMap((query) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(query)?.[1] ?? []);

/**
 * Returns whether the same statements of `TABLES` have run on this database before and every table still exists. To run
 * them again would change nothing, and would delay each start by a quarter of a second.
 */
async function areTablesReady(client: ClickHouseClient): Promise<boolean> {
  const existing = await selectRows<{ name: string }>(
    client,
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  const names = new Set(existing.map(({ name }) => name));
  return NAMES.every((name) => names.has(name)) && haveRun(client);
}

async function createTables(client: ClickHouseClient): Promise<void> {
  for (const query of TABLES) await client.command({ query });
  await insertRows(client, 'table_versions', [{ hash: HASH }]);
}

async function haveRun(client: ClickHouseClient): Promise<boolean> {
  const query = 'SELECT 1 FROM table_versions WHERE hash = {hash: String} LIMIT 1';
  return (await selectRows(client, query, { hash: HASH })).length > 0;
}

/**
 * Makes `query`, `insert` and `command` throw an `Outage` for errors of the connection. The client has no type for such
 * errors. An error is one of the connection if the server did not report it and our own data did not cause it.
 */
function throwOutages(client: ClickHouseClient): void {
  const withOutages =
    <A extends unknown[], R>(verb: string, ask: (...args: A) => Promise<R>) =>
    (...args: A) =>
      inSpan(verb, SpanKind.CLIENT, { 'db.system.name': 'clickhouse' }, () => ask(...args)).catch(
        (error: unknown) => {
          throw isFromServer(error) || isDataError(error) ? error : new Outage('ClickHouse', error);
        },
      );
  client.query = withOutages('query', client.query.bind(client)) as ClickHouseClient['query'];
  client.insert = withOutages('insert', client.insert.bind(client)) as ClickHouseClient['insert'];
  client.command = withOutages('command', client.command.bind(client));
}

function isFromServer(error: unknown): boolean {
  return error instanceof ClickHouseError;
}

/** Tests whether an error is in our own data, for example a value that cannot be written as JSON. */
function isDataError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/**
 * Maximum time until ClickHouse begins its response to a query, with the time in which the query waits for a free
 * connection. It is shorter than the 60 s after which `libs/platform/http-edge.ts` closes the connection of a client, so
 * that the client gets an error.
 */
const QUERY_MS = 50_000;

/**
 * Makes ClickHouse end a query whose connection closes. By default, ClickHouse runs the query to its end. It ends only
 * queries that are read-only; `2` still permits settings.
 */
const END_WITH_CONNECTION = { readonly: '2', cancel_http_readonly_queries_on_client_close: 1 } as const;

/** For each caller that waits for the result of some work: the signal that aborts when the caller has left. */
const callers = new AsyncLocalStorage<AbortSignal>();

/** Does the work for a caller. The queries of the work end when the caller has left. @param left aborts then */
export function whileCallerWaits<T>(left: AbortSignal, work: () => T): T {
  return callers.run(left, work);
}

/** Does work for which other callers wait too. Its queries do not end when one of the callers has left. */
export function forAllCallers<T>(work: () => T): T {
  return callers.exit(work);
}

/**
 * Returns the rows of a parameterised query. Values are sent as parameters (`{name: Type}`), never as SQL text.
 * @throws Outage if ClickHouse cannot be reached, or does not respond within `QUERY_MS`
 * @throws Refusal `unavailable` if the caller has left (`whileCallerWaits`)
 */
export async function selectRows<T>(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown> = {},
): Promise<T[]> {
  const left = callers.getStore();
  const late = AbortSignal.timeout(QUERY_MS);
  // `AbortSignal.any` would do the same, but Node 20 does not free its memory.
  const aborting = new AbortController();
  const abort = () => aborting.abort();
  late.addEventListener('abort', abort);
  left?.addEventListener('abort', abort);
  try {
    if (left?.aborted) throw callerLeft();
    const result = await client.query({
      query,
      query_params: params,
      format: 'JSONEachRow',
      abort_signal: aborting.signal,
      clickhouse_settings: END_WITH_CONNECTION,
    });
    return await result.json<T>();
  } catch (error) {
    if (left?.aborted) throw callerLeft();
    throw late.aborted ? new Outage('ClickHouse', `no response after ${QUERY_MS / 1000} s`) : error;
  } finally {
    late.removeEventListener('abort', abort);
    left?.removeEventListener('abort', abort);
  }
}

function callerLeft(): Refusal {
  return Refusal.unavailable('the caller has left');
}

/** Writes rows in one insert. Returns when the server has stored them, and at once if there are none. */
export async function insertRows<T>(
  client: ClickHouseClient,
  table: string,
  values: readonly T[],
): Promise<void> {
  if (values.length > 0) await client.insert({ table, values: [...values], format: 'JSONEachRow' });
}

/** Converts ClickHouse's `2026-01-02 03:04:05.678`, in UTC, to ISO 8601. */
export function isoFromClickHouse(text: string): string {
  return `${text.replace(' ', 'T')}Z`;
}
