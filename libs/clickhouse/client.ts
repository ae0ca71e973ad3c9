import { ClickHouseError, ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { Outage } from '#kernel';
import { inSpan, SpanKind } from '#telemetry';
import { TABLES } from './tables.js';

export type { ClickHouseClient } from '@clickhouse/client';

/** The id that means "no keyword" or "no search" in a column that is part of a key. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Connects and makes the tables that are missing.
 * @param url `http://[user:password@]host:port[/database]`
 */
export async function openClickHouse(url: string, name: string): Promise<ClickHouseClient> {
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
  tellOutages(client);
  for (const table of TABLES) await client.command({ query: table });
  return client;
}

/** An error that the server did not report is an error of the connection: the client has no type for it. */
function tellOutages(client: ClickHouseClient): void {
  const telling =
    <A extends unknown[], R>(verb: string, ask: (...args: A) => Promise<R>) =>
    (...args: A) =>
      inSpan(verb, SpanKind.CLIENT, { 'db.system.name': 'clickhouse' }, () => ask(...args)).catch(
        (error: unknown) => {
          throw isFromServer(error) || isMistake(error) ? error : new Outage('ClickHouse', error);
        },
      );
  client.query = telling('query', client.query.bind(client)) as ClickHouseClient['query'];
  client.insert = telling('insert', client.insert.bind(client)) as ClickHouseClient['insert'];
  client.command = telling('command', client.command.bind(client));
}

function isFromServer(error: unknown): boolean {
  return error instanceof ClickHouseError;
}

/** A value that cannot be written as JSON, for example. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/** Rows of a parameterised read. Values reach the server as parameters (`{name: Type}`), never as SQL text. */
export async function selectRows<T>(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown> = {},
): Promise<T[]> {
  const result = await client.query({ query, query_params: params, format: 'JSONEachRow' });
  return result.json<T>();
}

/** Writes rows in one insert; the server has them when this returns. */
export async function insertRows<T>(
  client: ClickHouseClient,
  table: string,
  values: readonly T[],
): Promise<void> {
  if (values.length > 0) await client.insert({ table, values: [...values], format: 'JSONEachRow' });
}

/** ISO 8601 of ClickHouse's `2026-01-02 03:04:05.678`. */
export function isoFromClickHouse(text: string): string {
  return `${text.replace(' ', 'T')}Z`;
}
