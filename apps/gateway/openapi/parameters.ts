import { SOURCE_IDS } from '#contracts';
import { ID, INSTANT_SENT, oneOf, TEXT, type Schema } from './schema.js';

/** A parameter of the path. */
export function inPath(name: string, description: string, schema: Schema = ID): Schema {
  return { name, in: 'path', required: true, description, schema };
}

/** A parameter of the query that may be given once. */
export function inQuery(name: string, description: string, schema: Schema = TEXT): Schema {
  return { name, in: 'query', description, schema };
}

/** A parameter of the query that may be repeated: its values are alternatives. */
export function repeated(name: string, description: string, items: Schema = TEXT): Schema {
  return {
    name,
    in: 'query',
    description: `${description} May be repeated: the values are alternatives.`,
    style: 'form',
    explode: true,
    schema: { type: 'array', items },
  };
}

export const SOURCE_IN_PATH = inPath('source', 'The source', oneOf(SOURCE_IDS));

/** The parameters of a page: `limit` and `cursor`. */
export function paging(most = 200, fallback = 50): Schema[] {
  return [
    inQuery('limit', 'Rows of a page', { type: 'integer', minimum: 1, maximum: most, default: fallback }),
    inQuery('cursor', '`nextCursor` of the page before, unchanged; the other parameters stay as they were'),
  ];
}

export function since(fallback: string): Schema {
  return inQuery('since', `Only what is not older; ${fallback} unless given`, INSTANT_SENT);
}

export const UNTIL = inQuery('until', 'Only what is older; now unless given', INSTANT_SENT);

/** `components.parameters` */
export const sharedParameters: Readonly<Record<string, Schema>> = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of your own for the request; the answer carries it, or a new one',
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the request safe to repeat for 24 hours: the first outcome below 500, other than 401, 402, 409 and 429, is answered again, with `Idempotency-Replayed: true`',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  EstimateToken: {
    name: 'Service-Estimate-Token',
    in: 'header',
    description: '`estimateToken` of an estimate of this very body: the create is held to it',
    schema: { type: 'string' },
  },
};

/** `components.headers` */
export const sharedHeaders: Readonly<Record<string, Schema>> = {
  'X-Request-Id': { description: 'The id of the request', schema: TEXT },
  'RateLimit-Policy': {
    description: 'The quota, in the form of the IETF draft',
    schema: { type: 'string', examples: ['"default";q=60;w=60'] },
  },
  RateLimit: {
    description: 'What is left of it, and the seconds until the minute ends',
    schema: { type: 'string', examples: ['"default";r=59;t=30'] },
  },
  'RateLimit-Limit': {
    description: 'Requests per minute, of the whole account',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'Requests left of this minute', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the minute ends', schema: { type: 'integer' } },
  'Idempotency-Replayed': {
    description: '`true` where the answer is that of an earlier request with the same key',
    schema: { type: 'string', const: 'true' },
  },
};
