import { SOURCE_IDS } from '#contracts';
import { ID, INSTANT_SENT, oneOf, TEXT, type Schema } from './schema.js';

/** Returns the description of a parameter of the path. */
export function inPath(name: string, description: string, schema: Schema = ID): Schema {
  return { name, in: 'path', required: true, description, schema };
}

/** Returns the description of a query parameter that can be given only once. */
export function inQuery(name: string, description: string, schema: Schema = TEXT): Schema {
  return { name, in: 'query', description, schema };
}

/** Returns the description of a query parameter that can be repeated. Its values are alternatives. */
export function repeated(name: string, description: string, items: Schema = TEXT): Schema {
  return {
    name,
    in: 'query',
    description: `${description} Can be repeated; the values are alternatives.`,
    style: 'form',
    explode: true,
    schema: { type: 'array', items },
  };
}

export const SOURCE_IN_PATH = inPath('source', 'Id of the source', oneOf(SOURCE_IDS));

/** Returns the descriptions of the parameters of a page: `limit` and `cursor`. */
export function paging(max = 200, fallback = 50): Schema[] {
  return [
    inQuery('limit', 'Maximum number of rows in the page', {
      type: 'integer',
      minimum: 1,
      maximum: max,
      default: fallback,
    }),
    inQuery('cursor', '`nextCursor` of the previous page, unchanged. Keep all other parameters the same'),
  ];
}

/** Returns the description of the parameter `since`. @param fallback the default, as text for people */
export function since(fallback: string): Schema {
  return inQuery('since', `Beginning of the window. Default: ${fallback}`, INSTANT_SENT);
}

export const UNTIL = inQuery('until', 'End of the window (exclusive). Default: now', INSTANT_SENT);

/** `components.parameters` */
export const sharedParameters: Readonly<Record<string, Schema>> = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Your id for the request: 1 to 128 visible ASCII characters. The response contains it. Without a valid id, the response contains a new id',
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the request safe to repeat for 24 hours. Earshot stores the first response below 500, except 401, 402, 409 and 429, and returns it again with `Idempotency-Replayed: true`',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  EstimateToken: {
    name: 'Service-Estimate-Token',
    in: 'header',
    description:
      '`estimateToken` of an estimate of the same body, valid for 15 minutes. Returns 409 if the token has expired, or if the body or the price list has changed since the estimate: request a new estimate',
    schema: { type: 'string' },
  },
};

/** `components.headers` */
export const sharedHeaders: Readonly<Record<string, Schema>> = {
  'X-Request-Id': { description: 'Id of the request', schema: TEXT },
  'RateLimit-Policy': {
    description: 'The quota, in the format of the IETF draft',
    schema: { type: 'string', examples: ['"default";q=60;w=60'] },
  },
  RateLimit: {
    description: 'The remaining requests, and the seconds until the minute ends',
    schema: { type: 'string', examples: ['"default";r=59;t=30'] },
  },
  'RateLimit-Limit': {
    description: 'Requests per minute for the whole account',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'Remaining requests of this minute', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the minute ends', schema: { type: 'integer' } },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same key',
    schema: { type: 'string', const: 'true' },
  },
};
