import { request } from 'undici';
import { insertRows } from '#clickhouse';
import { newId } from '#kernel';
import { startService } from '#platform';
import { programEnv, type Json } from '#testing';
import { readGatewayConfig } from '../../apps/gateway/config.js';
import { gatewayService } from '../../apps/gateway/gateway.module.js';
import { openApiDocument } from '../../apps/gateway/openapi/document.js';
import { checkDescribed, description, routeOf } from './described.js';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;
let bob: Tenant;

beforeAll(async () => {
  service = await startInterface({ AI_OPENAI_TOKEN: 't' });
  ada = await service.tenant();
  bob = await service.tenant();
});
afterAll(() => service?.stop());

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase() as Method, path })),
);

/** Routes with ids of upstream objects, which are the same for every account. */
const OF_UPSTREAMS = new Set([
  '/v1/x/users/{ref}',
  '/v1/x/users/{ref}/tweets',
  '/v1/x/users/{ref}/followers',
  '/v1/x/users/{ref}/following',
  '/v1/youtube/videos/{id}/comments',
  '/v1/reddit/users/{username}/moderated',
]);
const addressed = operations
  .filter(({ path }) => path.includes('{') && !OF_UPSTREAMS.has(path))
  // roles.int.spec.ts tests the routes that need a session.
  .filter(({ method, path }) => description.paths[path]?.[method.toLowerCase()]?.security === undefined);
const withId = addressed.filter(({ path }) => path.includes('{id}'));

/** Replaces the parameters of a path by ids. */
function filledIn(path: string, idOf: (what: string) => string): string {
  const what = /^\/v1\/(keywords|queries)\//.test(path)
    ? 'keyword'
    : (/^\/v1\/(mention|ai_answers|vinted)/.exec(path)?.[1] ?? 'watch');
  return path.replace('{source}', 'hackernews').replace('{id}', idOf(what));
}

const bodyOf = ({ method, path }: { method: Method; path: string }) => {
  if (method !== 'PATCH') return undefined;
  if (path.includes('mentions')) return { labels: ['starred'] };
  return path.includes('watches') ? { is_active: false } : { name: 'Stolen' };
};

describe('the OpenAPI description', () => {
  it('is readable without a key', async () => {
    const answer = await request(`${service.url}/v1/openapi.json`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['x-request-id']).toBeTruthy();
    expect(await answer.body.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
  });

  it('has exactly the existing routes', async () => {
    const config = readGatewayConfig(programEnv(service.stores, { LOG_LEVEL: 'silent' }));
    const definition = gatewayService(config);
    const routes: string[] = [];
    const running = await startService(
      {
        ...definition,
        http(app) {
          app
            .getHttpAdapter()
            .getInstance()
            .addHook('onRoute', ({ method, url }) => {
              for (const one of [method].flat())
                if (one !== 'HEAD' && url.startsWith('/v1'))
                  routes.push(`${one} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
            });
          return definition.http?.(app);
        },
      },
      config,
      false,
    );
    await running.stop();
    expect(routes.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('gives the tests the most specific route if several routes match a path', () => {
    expect(routeOf('/v1/keywords/estimate')).toBe('/v1/keywords/estimate');
    expect(routeOf('/v1/keywords/1?x=/')).toBe('/v1/keywords/{id}');
    expect(routeOf('/v1/ai_answers/watches/1/answers')).toBe('/v1/ai_answers/watches/{id}/answers');
    expect(routeOf('/v1/nothing')).toBeUndefined();
  });

  it('rejects an answer with an undescribed key or status, or without its headers', async () => {
    const answer = await ada.api.get('/v1/sources');
    const exchange = { method: 'GET', path: '/v1/sources', answer };
    expect(() => checkDescribed(exchange)).not.toThrow();
    const body: Json = structuredClone(answer.body);
    body.data[0].secret = 1;
    expect(() => checkDescribed({ ...exchange, answer: { ...answer, body } })).toThrow(
      'additional properties',
    );
    expect(() => checkDescribed({ ...exchange, answer: { ...answer, status: 418 } })).toThrow('status');
    expect(() => checkDescribed({ ...exchange, answer: { ...answer, headers: {} } })).toThrow('X-Request-Id');
    expect(() => checkDescribed({ ...exchange, path: '/v1/secret' })).toThrow('route');
  });
});

describe('a route with an id', () => {
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    ids['keyword'] = (await ada.api.post('/v1/keywords', keywordBody())).body.id;
    const watch = { criteria: { query: 'lone' }, refresh_interval_seconds: 600 };
    ids['watch'] = (await ada.api.post('/v1/hackernews/watches', watch)).body.id;
    const asking = { criteria: { filters: { prompt: 'Best lamp?' } }, refresh_interval_seconds: 86_400 };
    ids['ai_answers'] = (await ada.api.post('/v1/ai_answers/watches', asking)).body.id;
    const row = mentionRow(ada.accountId, { keyword_id: ids['keyword'] ?? '', watch_id: ids['watch'] ?? '' });
    await insertRows(service.clickhouse, 'mentions', [row]);
    ids['mention'] = row.event_id;
    ids['vinted'] = '123';
    for (const what of ['keyword', 'watch', 'ai_answers', 'mention']) expect(ids[what]).toBeTruthy();
  });

  it.each(withId)(
    '$method $path returns 404 for another account’s resource [errors.not-found, keywords.read]',
    async (operation) => {
      for (const idOf of [(what: string) => ids[what] ?? '', () => newId(), () => 'x', () => '%2e%2e']) {
        const path = filledIn(operation.path, idOf);
        const answer = await bob.api.call(operation.method, path, bodyOf(operation));
        expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'NOT_FOUND']);
      }
    },
  );

  it.each(addressed.filter(({ path }) => path.includes('{source}')))(
    '$method $path returns 404 for an unknown source',
    async (operation) => {
      const path = operation.path.replace('{source}', 'nosource').replace('{id}', ids['watch'] ?? '');
      const answer = await ada.api.call(
        operation.method,
        path,
        bodyOf(operation) ?? (operation.method === 'POST' ? {} : undefined),
      );
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'NOT_FOUND']);
    },
  );

  it('changes nothing that belongs to another account', async () => {
    const keyword = (await ada.api.get(`/v1/keywords/${ids['keyword']}`)).body;
    expect([keyword.state, keyword.name, keyword.version]).toEqual(['active', 'Acme', 1]);
    expect((await ada.api.get(`/v1/hackernews/watches/${ids['watch']}`)).body.isActive).toBe(true);
    expect((await ada.api.get(`/v1/mentions/${ids['mention']}`)).status).toBe(200);
  });
});
