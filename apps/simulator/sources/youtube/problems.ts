import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';

/** YouTube's error for a request. `message` can contain HTML. */
export interface YoutubeProblem {
  code: number;
  reason: string;
  message: string;
  domain?: string;
  /** The parameter at fault. */
  location?: string;
  /** Google's own name of the code. */
  status?: string;
  details?: object[];
}

/** Answers with a problem. */
export function problem(
  reply: FastifyReply,
  { code, reason, message, domain = 'global', location, status, details }: YoutubeProblem,
): FastifyReply {
  const first = { message, domain, reason, ...(location && { location, locationType: 'parameter' }) };
  return answer(reply, code, {
    error: { code, message, errors: [first], ...(status && { status }), ...(details && { details }) },
  });
}

const STATUSES: Record<number, { status: string; reason: string; message: string }> = {
  401: {
    status: 'UNAUTHENTICATED',
    reason: 'authError',
    message: 'Request had invalid authentication credentials.',
  },
  403: { status: 'PERMISSION_DENIED', reason: 'forbidden', message: 'The caller does not have permission' },
  404: { status: 'NOT_FOUND', reason: 'notFound', message: 'Requested entity was not found.' },
  429: { status: 'RESOURCE_EXHAUSTED', reason: 'rateLimitExceeded', message: 'Resource has been exhausted.' },
  500: { status: 'INTERNAL', reason: 'backendError', message: 'Internal error encountered.' },
  503: {
    status: 'UNAVAILABLE',
    reason: 'backendError',
    message: 'The service is currently unavailable.',
  },
};

/** Refuses a request with this status, in Google's words. */
export function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return problem(reply, { code: status, reason: 'backendError', message, ...STATUSES[status] });
}

/** The parameters of a method, and which of them are required. */
export interface Method {
  known: readonly string[];
  required: readonly string[];
  parts: readonly string[];
  /** Bounds and default of `maxResults`. */
  results: { min: number; max: number; usual: number };
}

/**
 * Returns the error for the key, for an unknown or missing parameter, for `part` or for `maxResults`; undefined if
 * there is none. The values of the other parameters are not checked here.
 */
export function problemOf(request: FastifyRequest, method: Method): YoutubeProblem | undefined {
  const { one } = queryOf(request);
  const key = one('key') ?? '';
  if (key === '') return NO_KEY;
  if (key === 'wrong') return WRONG_KEY;
  const unknown = Object.keys(request.query as object).find((name) => !method.known.includes(name));
  if (unknown !== undefined) {
    const message = `Invalid JSON payload received. Unknown name "${unknown}": Cannot bind query parameter. Field '${unknown}' could not be found in request message.`;
    return { code: 400, reason: 'invalid', message, status: 'INVALID_ARGUMENT' };
  }
  const missing = method.required.find((name) => !one(name));
  if (missing !== undefined) {
    const message = missing === 'part' ? `Required parameter: ${missing}` : 'No filter selected.';
    return { code: 400, reason: 'missingRequiredParameter', message, location: missing };
  }
  const part = one('part')
    ?.split(',')
    .find((each) => !method.parts.includes(each));
  if (part !== undefined) {
    const message = `${part}`;
    return { code: 400, reason: 'unknownPart', message, domain: 'youtube.part', location: 'part' };
  }
  const { min, max, usual } = method.results;
  const size = Number(one('maxResults') ?? usual);
  if (!Number.isInteger(size) || size < min || size > max) {
    const message = `Invalid value '${one('maxResults')}'. Values must be within the range: [${min}, ${max}]`;
    return invalidParameter('maxResults', message);
  }
  return undefined;
}

/** Returns the error for a parameter with an invalid value. */
export function invalidParameter(location: string, message: string): YoutubeProblem {
  return { code: 400, reason: 'invalidParameter', message, location };
}

/** The answer to a page token that is not valid. */
export const INVALID_PAGE_TOKEN: YoutubeProblem = {
  code: 400,
  reason: 'invalidPageToken',
  message: 'The request specifies an invalid page token.',
  domain: 'youtube.parameter',
  location: 'pageToken',
};

const NO_KEY: YoutubeProblem = {
  code: 403,
  reason: 'forbidden',
  message:
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
  status: 'PERMISSION_DENIED',
};
const WRONG_KEY: YoutubeProblem = {
  code: 400,
  reason: 'badRequest',
  message: 'API key not valid. Please pass a valid API key.',
  status: 'INVALID_ARGUMENT',
  details: [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'youtube.googleapis.com' },
    },
  ],
};
