import { distance } from 'fastest-levenshtein';
import { floorSeconds, PLANS, SOURCE_IDS } from '#contracts';
import { errorResponses, errorSchemas } from './errors.js';
import { headersOf, operationOf, type Route } from './operation.js';
import { sharedHeaders, sharedParameters } from './parameters.js';
import { accountRoutes, accountSchemas } from './resources/account.js';
import { backtestRoutes, backtestSchemas } from './resources/backtests.js';
import { channelRoutes, channelSchemas } from './resources/channels.js';
import { requestSchemas } from './resources/bodies.js';
import { coverageRoutes, coverageSchemas } from './resources/coverage.js';
import { deliveryRoutes, deliverySchemas } from './resources/deliveries.js';
import { estimateSchemas } from './resources/estimates.js';
import { analysisRoutes, analysisSchemas } from './resources/analyses.js';
import { eventSchemas, webhooks } from './resources/events.js';
import { exploreRoutes, exploreSchemas } from './resources/explore.js';
import { keywordSchemas } from './resources/keyword-schemas.js';
import { keywordRoutes } from './resources/keywords.js';
import { lookupRoutes, lookupSchemas } from './resources/lookups.js';
import { marketRoutes, marketSchemas } from './resources/market.js';
import { memberRoutes, memberSchemas } from './resources/members.js';
import { mentionSchemas } from './resources/mention-schemas.js';
import { mentionRoutes } from './resources/mentions.js';
import { readingRoutes, readingSchemas } from './resources/readings.js';
import { sessionRoutes, sessionSchemas } from './resources/sessions.js';
import { streamRoutes } from './resources/stream.js';
import { tweetSchemas } from './resources/tweets.js';
import { viewRoutes, viewSchemas } from './resources/views.js';
import { watchRoutes, watchSchemas } from './resources/watches.js';
import { sampleOf } from './sample.js';
import { FREE_FORM, ref, type Schema } from './schema.js';
import { SnakeCase } from './spelling.js';

const description: Route = {
  method: 'get',
  tag: 'Description',
  path: '/v1/openapi.json',
  operationId: 'describe',
  summary: 'Get this description',
  description:
    'OpenAPI 3.1 with a `webhooks` section. `x-source-intervals` contains the shortest interval of each source and plan, in seconds. Needs no key.',
  answer: FREE_FORM,
  open: true,
};

/** Every route of the interface. */
const ROUTES: readonly Route[] = [
  ...keywordRoutes,
  ...watchRoutes,
  ...mentionRoutes,
  ...streamRoutes,
  ...viewRoutes,
  ...readingRoutes,
  ...marketRoutes,
  ...lookupRoutes,
  ...analysisRoutes,
  ...exploreRoutes,
  ...backtestRoutes,
  ...coverageRoutes,
  ...deliveryRoutes,
  ...channelRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...memberRoutes,
  description,
];

const SCHEMAS: Readonly<Record<string, Schema>> = {
  ...accountSchemas,
  ...requestSchemas,
  ...keywordSchemas,
  ...estimateSchemas,
  ...watchSchemas,
  ...mentionSchemas,
  ...viewSchemas,
  ...eventSchemas,
  ...readingSchemas,
  ...marketSchemas,
  ...tweetSchemas,
  ...lookupSchemas,
  ...analysisSchemas,
  ...exploreSchemas,
  ...backtestSchemas,
  ...coverageSchemas,
  ...deliverySchemas,
  ...channelSchemas,
  ...sessionSchemas,
  ...memberSchemas,
  ...errorSchemas,
};

const TEMPLATES = ROUTES.map(({ method, path }) => ({
  method: method.toUpperCase(),
  // The dot of `openapi.json` is the only character in the templates that has a meaning in a regular expression.
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Maximum length of an address for which a route is suggested. */
const MAX_PATH_LENGTH = 200;
/** Maximum number of wrong, missing or additional letters. */
const MAX_TYPING_ERRORS = 3;

/**
 * Returns the route that an unknown path probably means, such as `/v1/keywords/{id}` for `/v1/keyword/{id}`. The prefix
 * `/v1` can be missing.
 */
export function nearestPath(path: string): string | undefined {
  if (path.length > MAX_PATH_LENGTH) return undefined;
  const given = path
    .replace(/\/+$/, '')
    .replace(/^\/(?!v1(\/|$))/, '/v1/')
    .split('/');
  let nearest: { template: string; errors: number } | undefined;
  for (const template of new Set(ROUTES.map((route) => route.path))) {
    const parts = template.split('/');
    if (parts.length !== given.length) continue;
    const errors = parts.reduce((sum, part, index) => sum + typingErrors(part, given[index] ?? ''), 0);
    if (errors <= MAX_TYPING_ERRORS && errors < (nearest?.errors ?? Infinity)) nearest = { template, errors };
  }
  return nearest?.template;
}

/** Returns the number of wrong letters; Infinity if these are more than half of the letters. */
function typingErrors(part: string, given: string): number {
  if (part.startsWith('{')) return 0;
  const errors = distance(part, given);
  return errors > part.length / 2 ? Infinity : errors;
}

/** Returns the methods of an address, in capitals. */
export function methodsAt(path: string): string[] {
  const methods = TEMPLATES.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  // Several templates can match, such as `/v1/mentions/{id}` and `/v1/mentions/series`.
  return [...new Set(methods)];
}

/**
 * Returns the machine-readable description of the interface: OpenAPI 3.1, version 1.0.0.
 * @param floorOverride `INTERVAL_FLOOR_SECONDS`, if it is set
 */
export function openApiDocument(floorOverride?: number): Schema {
  const snakeCase = new SnakeCase(SCHEMAS);
  const paths = pathsOf(ROUTES, snakeCase);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Earshot',
      version: '1.0.0',
      description:
        'Searches public sources for brands and topics, and reports mentions. Responses use camelCase, except `credits_used`. Bodies use snake_case or camelCase, except under `/v1/queries`, where they use camelCase only. Earshot does not change the user’s own keys (in `filters` and `schema`).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: [...new Set(ROUTES.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    webhooks: webhooks(exampleOf(ref('HnItemCreatedEvent'))),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'earshot_session',
          description:
            'The cookie of a sign-in, `__Host-earshot_session` with TLS. Writes also need the header `x-csrf-token`, which `GET /v1/auth/session` returns as `csrfToken`.',
        },
      },
      parameters: sharedParameters,
      headers: sharedHeaders,
      responses: errorResponses(headersOf(), exampleOf),
      schemas: { ...SCHEMAS, ...snakeCase.schemas },
    },
    'x-source-intervals': intervals(floorOverride),
  };
}

const exampleOf = (schema: Schema): unknown => sampleOf(schema, SCHEMAS);

/** Bodies under `/v1/queries` use camelCase only. */
function pathsOf(routes: readonly Route[], snakeCase: SnakeCase): Record<string, Record<string, Schema>> {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    const { body } = route;
    const isCamelCaseOnly = route.path.startsWith('/v1/queries');
    path[route.method] = operationOf(
      body === undefined || isCamelCaseOnly ? route : { ...route, body: snakeCase.both(body) },
      exampleOf,
    );
  }
  return paths;
}

/** Returns the shortest interval in seconds, by source and then by plan. */
function intervals(override: number | undefined): Record<string, Record<string, number>> {
  return Object.fromEntries(
    SOURCE_IDS.map((source) => [
      source,
      Object.fromEntries(PLANS.map((plan) => [plan, floorSeconds(plan, source, override)])),
    ]),
  );
}
