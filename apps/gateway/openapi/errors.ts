import { listOf, object, oneOf, ref, TEXT, type Schema } from './schema.js';

interface ErrorKind {
  name: string;
  description: string;
  codes: readonly string[];
}

/** Every status of an error response, and its codes. */
export const ERRORS: Readonly<Record<number, ErrorKind>> = {
  400: {
    name: 'BadRequest',
    description: 'The request is not valid. `details` lists up to 50 faults.',
    codes: ['VALIDATION', 'INTERVAL_TOO_LOW', 'MARKET_DISABLED', 'ESTIMATE_REQUIRED'],
  },
  401: {
    name: 'Unauthorized',
    description:
      'The API key is missing, unknown, revoked or expired; the session has ended; the route needs a session; or a page of another site sent a read with the cookie of a session. For a sign-in: the address or the password is wrong.',
    codes: ['UNAUTHORIZED'],
  },
  402: {
    name: 'PaymentRequired',
    description:
      'The credits do not cover the request, the plan does not allow the request, or the key has reached its daily limit of credits through MCP.',
    codes: ['INSUFFICIENT_CREDITS', 'PLAN_LIMIT', 'MCP_SPEND_LIMIT'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The API key, the role of the member or the settings of the installation do not allow the request; the `x-csrf-token` is missing or wrong; or a page of another site sent a request that changes something.',
    codes: ['FORBIDDEN'],
  },
  404: {
    name: 'NotFound',
    description:
      'The resource does not exist, or it belongs to another account. For a lookup: the account on the platform does not exist, is protected or is suspended.',
    codes: ['NOT_FOUND', 'USER_NOT_FOUND', 'USER_PROTECTED', 'USER_SUSPENDED'],
  },
  405: {
    name: 'MethodNotAllowed',
    description: 'This route does not have this method. The header `Allow` lists the methods of the route.',
    codes: ['METHOD_NOT_ALLOWED'],
  },
  408: {
    name: 'RequestTimeout',
    description: 'The request did not arrive in time. The connection is then closed.',
    codes: ['VALIDATION'],
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with the present state.',
    codes: [
      'CONFLICT',
      'DUPLICATE_SEARCH',
      'ESTIMATE_MISMATCH',
      'ESTIMATE_EXPIRED',
      'IDEMPOTENCY_IN_PROGRESS',
    ],
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is larger than 1 MiB (a form: 4 KiB), or the keyword is too large to be stored.',
    codes: ['PAYLOAD_TOO_LARGE'],
  },
  415: { name: 'UnsupportedMediaType', description: 'The body is not JSON.', codes: ['VALIDATION'] },
  422: {
    name: 'KeyReused',
    description: 'The `Idempotency-Key` was already used with another request.',
    codes: ['IDEMPOTENCY_KEY_REUSED'],
  },
  429: {
    name: 'TooManyRequests',
    description: 'The request quota of this minute is used up, or another limit of the route is reached.',
    codes: ['TOO_MANY_REQUESTS'],
  },
  431: {
    name: 'HeadersTooLarge',
    description: 'The headers are larger than 16 KiB. The connection is then closed.',
    codes: ['VALIDATION'],
  },
  500: {
    name: 'InternalError',
    description: 'Internal error. This is a defect in Earshot.',
    codes: ['INTERNAL'],
  },
  503: {
    name: 'Unavailable',
    description:
      'A service, store or upstream that the request needs does not answer, or its answer cannot be read. Try again later.',
    codes: ['UNAVAILABLE', 'PARSE', 'NETWORK'],
  },
};

const FAULT = object({ path: TEXT, message: TEXT });

export const errorSchemas: Readonly<Record<string, Schema>> = {
  Fault: FAULT,
  ...Object.fromEntries(
    Object.values(ERRORS).map(({ name, codes }) => [
      name,
      object({ error: TEXT, code: oneOf(codes) }, { details: listOf(ref('Fault')) }),
    ]),
  ),
};

/** Returns `components.responses`: one response for each status. */
export function errorResponses(
  headers: Schema,
  exampleOf: (schema: Schema) => unknown,
): Readonly<Record<string, Schema>> {
  const waiting = {
    'Retry-After': { description: 'Number of seconds to wait', schema: { type: 'integer', minimum: 1 } },
  };
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, { name, description, codes }]) => [
      name,
      {
        description: `${description} Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
        headers: status === '429' || status === '409' ? { ...headers, ...waiting } : headers,
        content: { 'application/json': { schema: ref(name), example: exampleOf(ref(name)) } },
      },
    ]),
  );
}
