import type { components } from './api.js';

type Schemas = components['schemas'];
type AnyError =
  | Schemas['BadRequest']
  | Schemas['Unauthorized']
  | Schemas['PaymentRequired']
  | Schemas['Forbidden']
  | Schemas['NotFound']
  | Schemas['MethodNotAllowed']
  | Schemas['Conflict']
  | Schemas['PayloadTooLarge']
  | Schemas['KeyReused']
  | Schemas['TooManyRequests']
  | Schemas['InternalError']
  | Schemas['Unavailable'];

/** The codes of the API. `UNKNOWN`: the response is not from the API, for example because a proxy answered. */
export type ErrorCode = AnyError['code'] | 'UNKNOWN';

/**
 * One invalid part of a request. `path` names a field of the request body, such as `sources[0].source`, a query
 * parameter or a header.
 */
export type Fault = Schemas['Fault'];

/** The API refused the request, or failed. Thrown after the last retry, or immediately if a retry is not allowed. */
export class EarshotError extends Error {
  override readonly name = 'EarshotError';
  /** HTTP status */
  readonly status: number;
  readonly code: ErrorCode;
  /** Up to 50 faults of an invalid request, otherwise empty. */
  readonly details: readonly Fault[];
  /** Id of the request. The operator can find it in the log. */
  readonly requestId: string | undefined;
  /** How long to wait before the next attempt, if the API states it. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    parts: Pick<EarshotError, 'status' | 'code'> &
      Partial<Pick<EarshotError, 'details' | 'requestId' | 'retryAfterSeconds'>>,
  ) {
    super(message);
    this.status = parts.status;
    this.code = parts.code;
    this.details = parts.details ?? [];
    this.requestId = parts.requestId;
    this.retryAfterSeconds = parts.retryAfterSeconds;
  }
}

/**
 * No complete response arrived: the connection failed, the time limit was exceeded, or the body of the response could
 * not be read. Thrown after the last retry, or immediately if a retry is not allowed. `cause` is the original error.
 */
export class EarshotConnectionError extends Error {
  override readonly name = 'EarshotConnectionError';
  /** True if the request changes something. Then it can have had its effect, although no response arrived. */
  readonly canHaveHadEffect: boolean;

  constructor(
    message: string,
    { canHaveHadEffect = false, ...options }: ErrorOptions & { canHaveHadEffect?: boolean } = {},
  ) {
    super(message, options);
    this.canHaveHadEffect = canHaveHadEffect;
  }
}

const MAX_MESSAGE_LENGTH = 300;

/** Returns the error for a response whose status is not 2xx, or that is a web page. */
export async function errorOf(response: Response): Promise<EarshotError> {
  const text = await response.text().catch(() => '');
  const body = parsed(text);
  const shared = {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterSeconds(response.headers),
  };
  if (typeof body?.error === 'string')
    return new EarshotError(body.error, { ...shared, code: body.code ?? 'UNKNOWN', details: body.details });
  const location = response.headers.get('location');
  // In a browser, a redirect has no status and no headers.
  if (response.type === 'opaqueredirect' || location !== null) {
    const message = `the server redirects to ${location ?? 'another address'}; redirects are not followed: correct the address of Earshot`;
    return new EarshotError(message, { ...shared, code: 'UNKNOWN' });
  }
  const message = text.trim().slice(0, MAX_MESSAGE_LENGTH) || response.statusText || 'no message';
  return new EarshotError(`HTTP ${response.status}: ${message}`, { ...shared, code: 'UNKNOWN' });
}

/** Returns the seconds of `Retry-After`, which is a number or a date. */
export function retryAfterSeconds(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get('retry-after');
  if (text === null || text === '') return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

function parsed(text: string): { error?: unknown; code?: ErrorCode; details?: Fault[] } | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
