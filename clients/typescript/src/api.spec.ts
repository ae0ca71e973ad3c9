import 'reflect-metadata';
import { checkout } from '#testing';
import { openApiDocument } from '../../../apps/gateway/openapi/document.js';
import { LIST_KEYS } from './routes.js';
import type { AnswerOf, Client, ErrorCode } from './index.js';

interface Described {
  paths: Record<string, Record<string, { parameters?: { name?: string }[]; responses: Json }>>;
}
type Json = Record<string, unknown>;

interface Generator {
  clientTypes(document: unknown): Promise<string>;
  committedTypes(): string;
}

describe('the types of the client', () => {
  it('equal the types that npm run client:types makes from the current OpenAPI description', async () => {
    const script = new URL('scripts/client-types.mjs', checkout).href;
    const { clientTypes, committedTypes } = (await import(script)) as Generator;
    const [wanted, committed] = [await clientTypes(openApiDocument()), committedTypes()];
    // Compares a boolean, because computing the difference of two files of 16,000 lines takes minutes.
    expect(wanted === committed).toBe(true);
  });

  it('have exactly one key of LIST_KEYS in the answer of every list', () => {
    const { paths } = openApiDocument() as unknown as Described;
    const lists = Object.entries(paths).filter(([, { get }]) =>
      get?.parameters?.some(({ name }) => name === 'cursor'),
    );
    expect(lists.length).toBeGreaterThan(10);
    const schemas = (openApiDocument()['components'] as { schemas: Record<string, Json> }).schemas;
    for (const [path, { get }] of lists) {
      const content = (get!.responses['200'] as { content: { 'application/json': { schema: Json } } })
        .content;
      const { schema } = content['application/json'];
      const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
      const { properties } = (name === undefined ? schema : schemas[name]) as { properties: Json };
      expect([path, LIST_KEYS.filter((key) => key in properties).length]).toEqual([path, 1]);
    }
  });
});

/** Only the compiler checks this function: an unused `@ts-expect-error` is an error. */
export async function typesOfCalls(client: Client): Promise<unknown[]> {
  const { data, nextCursor } = await client.get('/v1/mentions', { query: { source: 'rss', q: ['a'] } });
  const sentiment: string | null | undefined = data[0]?.analysis?.sentiment;
  const created = await client.post('/v1/keywords', {
    body: {
      name: 'Acme',
      refreshIntervalSeconds: 600,
      globalCriteria: { market: 'global', query: 'acme' },
      sources: [{ source: 'hackernews', enabled: true }],
    },
  });
  const gone: undefined = await client.delete('/v1/keywords/{id}', { path: { id: created.id } });
  const account: AnswerOf<'get', '/v1/account'> = await client.get('/v1/account');
  for await (const { criteriaHash } of client.paginate('/v1/{source}/watches', { path: { source: 'rss' } }))
    criteriaHash.toUpperCase();
  const code: ErrorCode = 'ESTIMATE_MISMATCH';
  // @ts-expect-error a path without such a method
  await client.post('/v1/account');
  // @ts-expect-error an unknown path
  await client.get('/v1/mention');
  // @ts-expect-error a missing parameter of the path
  await client.get('/v1/mentions/{id}');
  // @ts-expect-error a missing body
  await client.post('/v1/keywords');
  // @ts-expect-error an unknown source
  await client.get('/v1/mentions', { query: { source: 'usenet' } });
  // @ts-expect-error an unknown filter
  await client.get('/v1/mentions', { query: { colour: 'red' } });
  // @ts-expect-error not a list
  client.paginate('/v1/account');
  return [nextCursor, sentiment, gone, account.timezone, code];
}
