import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { ApiExchange } from '#testing';
import { openApiDocument } from '../../apps/gateway/openapi/document.js';

interface Described {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
}
interface Operation {
  /** If absent, the operation needs a key or a session; if empty, it needs neither. */
  security?: readonly Record<string, []>[];
  responses: Record<string, Response | { $ref: string }>;
}
interface Response {
  content?: { 'application/json': unknown };
}

/** The description with which responses are compared. */
export const description = openApiDocument() as unknown as Described;

const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: fullFormats, allErrors: true });
ajv.addSchema(description, 'openapi');
const validators = new Map<string, ValidateFunction>();

/**
 * Compares a response with the description. Checks that:
 * - the description contains the route (unless the response is 400, 401, 404, 405 or 429) and the status of the
 *   response;
 * - the response has X-Request-Id, and RateLimit if the request was counted;
 * - the body has exactly the described keys.
 * @throws Error that names the difference
 */
export function checkDescribed({ method, path, answer }: ApiExchange): void {
  const fail = (why: string): never => {
    throw new Error(`${method} ${path} → ${answer.status} ${answer.text.slice(0, 500)}: ${why}`);
  };
  if (!answer.headers['x-request-id']) fail('has no X-Request-Id');
  const route = routeOf(path);
  const operation = route === undefined ? undefined : description.paths[route]?.[method.toLowerCase()];
  if (route === undefined || !operation) {
    if (![400, 401, 404, 405, 429].includes(answer.status)) fail('the route is not described');
    return;
  }
  if (
    answer.status !== 401 &&
    answer.status !== 400 &&
    operation.security?.length !== 0 &&
    !answer.headers['ratelimit']
  )
    fail('has no RateLimit');
  const response = operation.responses[answer.status];
  if (!response) return fail('the status is not described');
  const pointer =
    '$ref' in response
      ? response.$ref.slice(1)
      : pointerOf('paths', route, method.toLowerCase(), 'responses', String(answer.status));
  const { content } =
    '$ref' in response
      ? (description.components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {})
      : response;
  if (!content) {
    if (answer.text !== '') fail('has a body although none is described');
    return;
  }
  const validate = validatorOf(`openapi#${pointer}/content/application~1json/schema`);
  if (!validate(answer.body)) fail(ajv.errorsText(validate.errors, { dataVar: 'body' }));
}

/** Returns the described route of a path; the most specific one if several match. */
export function routeOf(path: string): string | undefined {
  const given = (path.split('?')[0] ?? '').split('/');
  const matching = Object.keys(description.paths).filter((route) => {
    const parts = route.split('/');
    return (
      parts.length === given.length && parts.every((part, n) => part.startsWith('{') || part === given[n])
    );
  });
  return matching.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}

function validatorOf(reference: string): ValidateFunction {
  const known = validators.get(reference) ?? ajv.compile({ $ref: reference });
  validators.set(reference, known);
  return known;
}

function pointerOf(...keys: string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
