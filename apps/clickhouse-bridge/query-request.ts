import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ClickhouseException } from './clickhouse-exception.js';

/** The settings and parameters of a request, without its body. */
export interface QueryRequest {
  queryId: string;
  /**
   * The SQL in the address or in a form. If the address contains SQL, the body continues this SQL, or contains an
   * insert's rows.
   */
  query?: string | undefined;
  database?: string | undefined;
  defaultFormat?: string | undefined;
  settings: Map<string, string>;
  parameters: Map<string, string>;
  wantsCompressedAnswer: boolean;
  mustWaitForEnd: boolean;
  isReadOnly: boolean;
}

/**
 * Keys of ClickHouse's interface that the bridge ignores. Keys that this file does not name are settings or parameters.
 */
const IGNORED_KEYS = new Set([
  'user',
  'password',
  'quota_key',
  'buffer_size',
  'client_protocol_version',
  'stacktrace',
]);
const REFUSED_KEYS = new Map([
  ['session_id', 'sessions'],
  ['session_timeout', 'sessions'],
  ['session_check', 'sessions'],
  ['role', 'roles'],
]);
const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Reads the address and the headers of a request.
 * @throws ClickhouseException 48 for features that the bridge lacks, 115 for a key that cannot be the name of a setting
 * or parameter
 */
export function readQueryRequest(request: IncomingMessage): QueryRequest {
  const url = new URL(request.url ?? '/', 'http://bridge');
  const header = (name: string) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const query: QueryRequest = {
    queryId: randomUUID(),
    database: header('x-clickhouse-database'),
    defaultFormat: header('x-clickhouse-format'),
    settings: new Map(),
    parameters: new Map(),
    wantsCompressedAnswer: false,
    mustWaitForEnd: false,
    isReadOnly: request.method === 'GET',
  };
  for (const [key, value] of url.searchParams) applyKey(query, key, value);
  const acceptsGzip = /\bgzip\b/i.test(header('accept-encoding') ?? '');
  query.wantsCompressedAnswer = acceptsGzip && isTrue(query.settings.get('enable_http_compression'));
  return query;
}

/** Applies one key of the address or of a form. */
export function applyKey(query: QueryRequest, key: string, value: string): void {
  const refused = REFUSED_KEYS.get(key);
  if (refused)
    throw new ClickhouseException(
      48,
      'NOT_IMPLEMENTED',
      `The embedded ClickHouse has no ${refused} (${key})`,
    );
  if (IGNORED_KEYS.has(key)) return;
  switch (key) {
    case 'query':
      query.query = value;
      return;
    case 'query_id':
      if (value) query.queryId = value;
      return;
    case 'database':
      query.database = value;
      return;
    case 'default_format':
      query.defaultFormat = value;
      return;
    case 'wait_end_of_query':
      query.mustWaitForEnd = isTrue(value);
      return;
    case 'compress':
    case 'decompress':
      if (isTrue(value))
        throw new ClickhouseException(
          48,
          'NOT_IMPLEMENTED',
          'Native compression is not supported: use Content-Encoding: gzip',
        );
      return;
  }
  if (key.startsWith('param_')) return setNamed(query.parameters, key.slice(6), value, PARAMETER_NAME);
  setNamed(query.settings, key, value, SETTING_NAME);
}

function setNamed(map: Map<string, string>, name: string, value: string, allowed: RegExp): void {
  if (!allowed.test(name)) throw new ClickhouseException(115, 'UNKNOWN_SETTING', `Unknown setting '${name}'`);
  map.set(name, value);
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}
