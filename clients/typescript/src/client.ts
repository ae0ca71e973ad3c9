import { EarshotError } from './errors.js';
import { Http, type ClientOptions } from './http.js';
import {
  mentionStream,
  type StreamedMention,
  type StreamFilters,
  type StreamOptions,
} from './mention-stream.js';
import {
  LIST_KEYS,
  type AnswerOf,
  type CallOptions,
  type ListPath,
  type Method,
  type OptionalArgument,
  type OptionsOf,
  type PathsOf,
  type RowOf,
} from './routes.js';

/**
 * Calls the API. All methods reject with `EarshotError`, or with the reason of `signal` if it is aborted. All methods
 * except `stream` also reject with `EarshotConnectionError`; `stream` connects again instead. A method rejects with
 * `TypeError` if a path parameter is missing, `.` or `..`.
 */
export interface Client {
  get<P extends PathsOf<'get'>>(
    path: P,
    ...options: OptionalArgument<OptionsOf<'get', P>>
  ): Promise<AnswerOf<'get', P>>;
  /** Sends a POST. Its `Idempotency-Key` prevents a second effect of a retry; POSTs under `/v1/auth/` have no key. */
  post<P extends PathsOf<'post'>>(
    path: P,
    ...options: OptionalArgument<OptionsOf<'post', P>>
  ): Promise<AnswerOf<'post', P>>;
  /** Sends a PATCH. Repeats it only after 429: after a 5xx or a failed connection, the PATCH can have had an effect. */
  patch<P extends PathsOf<'patch'>>(
    path: P,
    ...options: OptionalArgument<OptionsOf<'patch', P>>
  ): Promise<AnswerOf<'patch', P>>;
  /** Sends a DELETE. Repeats it only after 429: after a 5xx or a failed connection, the DELETE can have had an effect. */
  delete<P extends PathsOf<'delete'>>(
    path: P,
    ...options: OptionalArgument<OptionsOf<'delete', P>>
  ): Promise<AnswerOf<'delete', P>>;
  /** Returns every row of a list. Reads the next page when all rows of the current page were used. */
  paginate<P extends ListPath>(
    path: P,
    ...options: OptionalArgument<OptionsOf<'get', P>>
  ): AsyncGenerator<RowOf<P>, void, undefined>;
  /** Returns the unread response of a GET, for exports and other files. */
  download<P extends PathsOf<'get'>>(
    path: P,
    ...options: OptionalArgument<OptionsOf<'get', P>>
  ): Promise<Response>;
  /** Returns new mentions as they arrive. Connects again automatically, and then continues after the last mention. */
  stream(filters?: StreamFilters, options?: StreamOptions): AsyncGenerator<StreamedMention, void, undefined>;
}

type AnyOptions = CallOptions & {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
};

/**
 * Creates a client of one installation, as one account.
 *
 *     const earshot = createClient({ baseUrl: 'http://127.0.0.1:8080', apiKey });
 *     for await (const mention of earshot.paginate('/v1/mentions', { query: { source: ['reddit'] } })) …
 */
export function createClient(options: ClientOptions): Client {
  const http = new Http(options);
  const callOf = (method: Method, path: string, { path: pathValues, ...rest }: AnyOptions = {}) => ({
    ...rest,
    path,
    pathValues,
    method: method.toUpperCase(),
  });
  const call = (method: Method) => (path: string, given?: AnyOptions) =>
    http.send(callOf(method, path, given), bodyOf);

  async function* paginate(path: string, given: AnyOptions = {}): AsyncGenerator<unknown, void, undefined> {
    let query = given.query;
    for (;;) {
      const page = (await call('get')(path, { ...given, query })) as Record<string, unknown>;
      yield* rowsOf(path, page);
      if (page['nextCursor'] === undefined) return;
      query = { ...query, cursor: page['nextCursor'] };
    }
  }

  return {
    get: call('get'),
    post: call('post'),
    patch: call('patch'),
    delete: call('delete'),
    paginate,
    download: (path: string, given?: AnyOptions) =>
      http.send(callOf('get', path, given), (response) => response),
    stream: (filters, streamOptions) => mentionStream(http, filters, streamOptions),
  } as Client;
}

async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new EarshotError('the response is not JSON', { status: response.status, code: 'UNKNOWN' });
  }
}

function rowsOf(path: string, page: Record<string, unknown>): readonly unknown[] {
  for (const key of LIST_KEYS) {
    const rows = page[key];
    if (Array.isArray(rows)) return rows;
  }
  throw new TypeError(`${path} is not a list`);
}
