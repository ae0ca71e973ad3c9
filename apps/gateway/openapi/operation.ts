import { ERRORS } from './errors.js';
import type { Schema } from './schema.js';

/** The HTTP method of a route. */
export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The short description of one route, from which `operationOf` builds the OpenAPI operation. */
export interface Route {
  method: Method;
  /** `/v1/keywords/{id}` */
  path: string;
  tag: string;
  /** Unique; clients derive function names from it. */
  operationId: string;
  summary: string;
  /** What the summary does not contain: conditions, limits, costs. */
  description: string;
  /** All parameters, including the parameters of the path. */
  parameters?: readonly Schema[];
  body?: Schema;
  /** An example of a useful body. */
  example?: Readonly<Record<string, unknown>>;
  /** Status of the response. Default: 200. */
  status?: 200 | 201 | 202 | 204;
  answer?: Schema;
  /** Bodies of other successful responses, by status. */
  alsoAnswers?: Readonly<Record<number, Schema>>;
  /** Responses with other media types than JSON, by media type. */
  files?: Readonly<Record<string, Schema>>;
  /** Statuses of refusals, in addition to those that `refusalsOf` derives from the method and the path. */
  refusals?: readonly number[];
  /** The route needs no key and has no quota. */
  open?: boolean;
  /** The route needs a session; it does not accept an API key. */
  needsSession?: boolean;
}

/** Headers of the responses under `/v1` to callers with a valid key or session. */
const ANSWER_HEADERS = [
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/** References to `components.headers`. */
export function headersOf(names: readonly string[] = ANSWER_HEADERS): Schema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/**
 * Returns the route as an OpenAPI operation.
 * @param exampleOf makes an example of a response from its schema
 */
export function operationOf(route: Route, exampleOf: (schema: Schema) => unknown): Schema {
  const { tag, operationId, summary, description, body, example, status = 200, answer } = route;
  const parameters = [
    ...(route.parameters ?? []),
    ...(route.open ? [] : [{ $ref: '#/components/parameters/RequestId' }]),
    ...(isKeyed(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
  return {
    tags: [tag],
    operationId,
    summary,
    description,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: body, ...(example === undefined ? {} : { example }) } },
          },
        }),
    ...(route.open ? { security: [] } : route.needsSession ? { security: [{ session: [] }] } : {}),
    responses: {
      [status]: {
        description: status === 204 ? 'Done; no content' : 'Success',
        headers: headersOf(successHeaders(route)),
        ...(answer === undefined
          ? {}
          : { content: { 'application/json': { schema: answer, example: exampleOf(answer) } } }),
        ...(route.files === undefined ? {} : { content: contentOf(route.files) }),
      },
      ...Object.fromEntries(
        Object.entries(route.alsoAnswers ?? {}).map(([also, schema]) => [
          also,
          {
            description: 'Accepted',
            headers: headersOf(successHeaders(route)),
            content: { 'application/json': { schema, example: exampleOf(schema) } },
          },
        ]),
      ),
      ...Object.fromEntries(
        refusalsOf(route).map((refusal) => [
          refusal,
          { $ref: `#/components/responses/${ERRORS[refusal]?.name}` },
        ]),
      ),
    },
  };
}

function successHeaders(route: Route): string[] {
  if (route.open) return ['X-Request-Id'];
  return isKeyed(route) ? [...ANSWER_HEADERS, 'Idempotency-Replayed'] : ANSWER_HEADERS;
}

/** Returns whether the route accepts an `Idempotency-Key`. Routes under `/v1/auth/`, which get passwords, do not. */
function isKeyed({ method, path }: Route): boolean {
  return method === 'post' && !path.startsWith('/v1/auth/');
}

function contentOf(files: Readonly<Record<string, Schema>>): Schema {
  return Object.fromEntries(Object.entries(files).map(([type, schema]) => [type, { schema }]));
}

function refusalsOf({ method, path, refusals = [], open }: Route): number[] {
  if (open) return [...refusals, 500];
  const every = [400, 401, 429, 500, 503];
  const addressed = path.includes('{') ? [404] : [];
  const changing = method === 'get' ? [] : [403, 409, 413, 415];
  const keyed = method === 'post' ? [402, 422] : [];
  return [...new Set([...every, ...addressed, ...changing, ...keyed, ...refusals])].sort((a, b) => a - b);
}
