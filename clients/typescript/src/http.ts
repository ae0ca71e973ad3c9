import { EarshotConnectionError, EarshotError, errorOf } from './errors.js';
import { MAX_TIMER_MS, withRetries } from './retry.js';

/** The installation that the client calls, its credentials, and its limits. */
export interface ClientOptions {
  /**
   * Address of the installation, such as `https://earshot.example.com`. If it is empty, requests go to the origin of
   * the page.
   */
  baseUrl: string;
  /** The API key. Without a key, a browser sends its session cookie. */
  apiKey?: string | undefined;
  /** Returns the `csrfToken` of the session. Writes with a session cookie need it. */
  csrfToken?: () => string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Number of attempts after the first attempt. Default: 3 */
  retries?: number | undefined;
  /** If `Retry-After` is longer, the call throws without waiting. Default: 60 */
  longestRetryAfterSeconds?: number | undefined;
  /** Time for one attempt until the headers of the response arrive, in milliseconds. Default: 130,000 */
  timeoutMs?: number | undefined;
}

/** One HTTP request. */
export interface HttpCall {
  method: string;
  /** Contains `{name}` for each parameter in `pathValues`. */
  path: string;
  pathValues?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The API stores no answers of the routes under this path, such as sign-in, so they take no `Idempotency-Key`. */
const WITHOUT_STORED_ANSWER = '/v1/auth/';

/** Longer than the 125 s that an analysis or a backtest can take. */
const LONGEST_ANSWER_MS = 130_000;

/** The end of the paths of estimates: POSTs that change nothing. */
const ESTIMATE = '/estimate';

/** Sends calls, with credentials and retries. */
export class Http {
  constructor(private readonly options: ClientOptions) {}

  /**
   * Sends a call, and reads the response if its status is 2xx.
   * @throws EarshotError if the API refuses the request or fails, or if another server answers; EarshotConnectionError
   *   if no complete response arrives; TypeError if a path parameter cannot be part of an address; the reason of
   *   `call.signal` if this signal is aborted
   */
  async send<T>(call: HttpCall, read: (response: Response) => Promise<T> | T): Promise<T> {
    const isRead = call.method === 'GET';
    const idempotencyKey = this.keyOf(call);
    const headers = new Headers({
      ...this.credentials(isRead),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    });
    // The caller's headers replace ours, in any spelling.
    for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
    const body = call.body === undefined ? null : JSON.stringify(call.body);
    const url = this.options.baseUrl.replace(/\/+$/, '') + addressOf(call);
    const { retries = 3, longestRetryAfterSeconds = 60 } = this.options;
    // A followed redirect would turn a POST into a GET, and send the API key to another server.
    const init = {
      method: call.method,
      headers,
      body,
      credentials: 'same-origin',
      redirect: 'manual',
    } as const;
    return withRetries(() => this.attempt(url, init, call.signal, read), {
      retries,
      longestRetryAfterSeconds,
      isRepeatable: isRead || idempotencyKey !== undefined,
      signal: call.signal,
    });
  }

  private async attempt<T>(
    url: string,
    init: RequestInit,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T> | T,
  ): Promise<T> {
    const { fetch = globalThis.fetch, timeoutMs = LONGEST_ANSWER_MS } = this.options;
    const slow = new AbortController();
    const timer = setTimeout(
      () => slow.abort(new Error(`no response within ${timeoutMs} ms`)),
      Math.min(timeoutMs, MAX_TIMER_MS),
    );
    try {
      const ends = signal ? AbortSignal.any([signal, slow.signal]) : slow.signal;
      const response = await fetch(url, { ...init, signal: ends });
      clearTimeout(timer);
      // The API never answers with a web page: a proxy or another server has answered, even with status 200.
      if (!response.ok || isWebPage(response)) throw await errorOf(response);
      return await read(response);
    } catch (cause) {
      signal?.throwIfAborted();
      // `fetch` can be replaced by a function that makes requests with this client too.
      if (cause instanceof EarshotError || cause instanceof EarshotConnectionError) throw cause;
      const canHaveHadEffect = init.method !== 'GET' && !url.endsWith(ESTIMATE);
      throw new EarshotConnectionError(`${init.method} ${url}: ${reasonOf(cause)}`, {
        cause,
        canHaveHadEffect,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  private credentials(isRead: boolean): Record<string, string> {
    const { apiKey, csrfToken } = this.options;
    if (apiKey !== undefined) return { 'x-api-key': apiKey };
    const token = isRead ? undefined : csrfToken?.();
    return token === undefined ? {} : { 'x-csrf-token': token };
  }

  private keyOf({ method, path, idempotencyKey }: HttpCall): string | undefined {
    // The API ignores the key of other requests, so a key would not make their retries safe.
    if (method !== 'POST' || path.startsWith(WITHOUT_STORED_ANSWER)) return undefined;
    return idempotencyKey ?? randomKey();
  }
}

function isWebPage({ headers }: Response): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '');
}

/** Returns a random key. `crypto.randomUUID` exists only in secure contexts, and pages can use plain HTTP. */
function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function addressOf({ path, pathValues = {}, query = {} }: HttpCall): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = pathValues[name];
    const text = value === undefined || value === null ? '' : String(value);
    if (text === '') throw new TypeError(`${path} needs the path parameter ${name}`);
    // `encodeURIComponent` does not change these two texts, so the request would reach another route.
    if (text === '.' || text === '..')
      throw new TypeError(`the path parameter ${name} of ${path} cannot be "${text}"`);
    return encodeURIComponent(text);
  });
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) words.append(name, String(one));
  const text = words.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** Returns the reason of an error of `fetch`. In Node, the error says only `fetch failed`; `cause` has the reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
