import 'reflect-metadata';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { EVENT_TYPES, PLANS, SOURCE_IDS } from '#contracts';
import { openApiDocument } from './document.js';
import type { Schema } from './schema.js';

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Schema[];
  responses: Record<string, { content?: Record<string, { schema: Schema; example?: unknown }> }>;
  requestBody?: { content: { 'application/json': { example?: unknown } } };
}

interface Described {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, Schema>; required: string[] }> };
  webhooks: {
    event: { post: Operation & { requestBody: { content: { 'application/json': { schema: Schema } } } } };
  };
  'x-source-intervals': Record<string, Record<string, number>>;
}

const document = openApiDocument() as unknown as Described;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: fullFormats });
ajv.addSchema(document, 'openapi');

/** Returns the faults that a schema of the document finds in a value. */
function faultsOfSchema(schema: Schema | undefined, value: unknown): unknown {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as Schema;
  const validate = ajv.compile(absolute);
  return validate(value) ? [] : validate.errors;
}

describe('the description of the interface', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openApiDocument()));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0']);
  });

  it('has no reference to a missing definition', () => {
    const text = JSON.stringify(document);
    const referred = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer ?? '');
    expect(referred.length).toBeGreaterThan(100);
    for (const pointer of new Set(referred)) {
      const found = pointer
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
      expect([pointer, found !== undefined]).toEqual([pointer, true]);
    }
  });

  it('has a different name for each operation, and describes each parameter of a path', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { path, parameters = [] } of operations) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = parameters.filter((parameter) => parameter['in'] === 'path').map(({ name }) => name);
      expect([path, declared]).toEqual([path, wanted]);
    }
  });

  it('describes every operation in words', () => {
    expect(operations.filter(({ description }) => !description).map(({ path }) => path)).toEqual([]);
  });

  it('publishes the interval floors of every source and plan, or the setting that replaces them [limits.floors-published]', () => {
    const floors = document['x-source-intervals'];
    expect(Object.keys(floors)).toEqual([...SOURCE_IDS]);
    for (const source of SOURCE_IDS) expect(Object.keys(floors[source] ?? {})).toEqual([...PLANS]);
    expect(floors['hackernews']).toEqual({ free: 3600, solo: 600, growth: 120, pro: 60, unlimited: 30 });
    expect(floors['ai_answers']?.['pro']).toBe(21_600);
    const replaced = openApiDocument(1) as unknown as Described;
    expect(replaced['x-source-intervals']['x']?.['free']).toBe(1);
  });
});

describe('the description of a body', () => {
  /** Returns the faults that the description of the route finds in a body. */
  function faultsOf(method: string, path: string, body: unknown): unknown {
    const pointer = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'];
    const escaped = pointer.map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const validate = ajv.compile({ $ref: `openapi#/${escaped.join('/')}` });
    return validate(body) ? [] : validate.errors;
  }

  const withBody = operations.filter(({ requestBody }) => requestBody);

  it.each(withBody.map(({ method, path, requestBody }) => [method, path, requestBody] as const))(
    'has a valid example: %s %s',
    (method, path, requestBody) => {
      const { example } = requestBody?.content['application/json'] ?? {};
      expect(example).toBeDefined();
      expect(faultsOf(method, path, example)).toEqual([]);
    },
  );

  it('allows each key in both spellings, and only camelCase under /v1/queries', () => {
    const camel = {
      name: 'Acme',
      refreshIntervalSeconds: 600,
      globalCriteria: { market: 'global', priceMin: 1, filters: { aB: 1, a_b: 2 } },
      sources: [
        {
          source: 'hackernews',
          enabled: true,
          refreshIntervalSeconds: null,
          searches: [{ overridesEnabled: true }],
        },
      ],
      muteRules: ['spam'],
      aiStep: {
        instruction: 'Read it.',
        schema: { a_b: { type: 'string', maxLength: 5 }, aB: { type: 'boolean' } },
      },
      rules: [
        {
          name: 'r',
          when: { kind: 'volume', window: '1h', min: 1, multiple: 1 },
          then: [{ type: 'notify', channelIds: [] }],
        },
      ],
      schedule: { startsAt: null, endsAt: null, timezone: 'UTC' },
    };
    const snake = JSON.parse(
      JSON.stringify(camel).replace(
        /"([a-z]+(?:[A-Z][a-z]+)+)":/g,
        (_, key: string) => `"${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`,
      ),
    ) as object;
    expect(snake).toMatchObject({
      global_criteria: { price_min: 1, filters: { aB: 1 } },
      ai_step: { schema: { aB: {} } },
    });
    for (const [method, path] of [
      ['post', '/v1/keywords'],
      ['post', '/v1/keywords/estimate'],
      ['patch', '/v1/keywords/{id}'],
    ] as const) {
      expect(faultsOf(method, path, camel)).toEqual([]);
      expect(faultsOf(method, path, snake)).toEqual([]);
      expect(faultsOf(method, path, { ...snake, colour: 'red' })).not.toEqual([]);
    }
    expect(faultsOf('post', '/v1/queries', camel)).toEqual([]);
    expect(faultsOf('post', '/v1/queries', snake)).not.toEqual([]);
    const watch = { criteria: { price_min: 1 }, webhook_url: null, refresh_interval_seconds: 600 };
    expect(faultsOf('post', '/v1/{source}/watches', watch)).toEqual([]);
    expect(
      faultsOf('post', '/v1/{source}/watches', { criteria: { priceMin: 1 }, refreshIntervalSeconds: 600 }),
    ).toEqual([]);
  });
});

describe('the description of an answer', () => {
  const answers = operations.flatMap(({ method, path, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) =>
      content?.['application/json'] ? [[method, path, status] as const] : [],
    ),
  );

  it.each(answers)('has an example that fits its schema: %s %s %s', (method, path, status) => {
    const { schema, example } =
      operations.find((one) => one.method === method && one.path === path)?.responses[status]?.content?.[
        'application/json'
      ] ?? {};
    expect(example).toBeDefined();
    expect(faultsOfSchema(schema, example)).toEqual([]);
  });

  it('shows a recursive schema only once, so that the description stays below 1 MB', () => {
    const tweets = operations.find(({ method, path }) => method === 'get' && path === '/v1/x/tweets');
    const { data } = tweets!.responses['200']!.content!['application/json']!.example as { data: Schema[] };
    expect(data[0]).toMatchObject({ quotedTweet: null, retweetedTweet: null });
    expect(JSON.stringify(document).length).toBeLessThan(1_000_000);
  });

  it('exists for more than 80 answers', () => {
    expect(answers.length).toBeGreaterThan(80);
  });
});

describe('the webhooks of the description', () => {
  const { parameters, requestBody } = document.webhooks.event.post;

  it('describe the headers of the signatures, and X-Replay', () => {
    expect(parameters?.map(({ name }) => name)).toEqual([
      'X-Signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'X-Replay',
    ]);
  });

  it('have one schema for each event type, and the value of `type` selects the schema', () => {
    const { schema } = requestBody.content['application/json'];
    const envelope = (document.components.schemas as unknown as Record<string, Schema>)['Envelope'] as {
      oneOf: Schema[];
      discriminator: { propertyName: string; mapping: Record<string, string> };
    };
    expect(schema).toEqual({ $ref: '#/components/schemas/Envelope' });
    expect(envelope.discriminator.propertyName).toBe('type');
    expect(Object.keys(envelope.discriminator.mapping)).toEqual(EVENT_TYPES);
    expect(envelope.oneOf).toHaveLength(EVENT_TYPES.length);
    for (const [type, $ref] of Object.entries(envelope.discriminator.mapping)) {
      const name = $ref.split('/').at(-1) ?? '';
      expect(document.components.schemas[name]?.properties['type']).toEqual({ type: 'string', const: type });
      expect(envelope.oneOf).toContainEqual({ $ref });
    }
  });

  it('accept the example of an event, and refuse the example with another type or with two bodies', () => {
    const { example } = requestBody.content['application/json'] as { example: Record<string, unknown> };
    const { schema } = requestBody.content['application/json'];
    expect(faultsOfSchema(schema, example)).toEqual([]);
    expect(faultsOfSchema(schema, { ...example, type: 'tweet.created' })).not.toEqual([]);
    expect(faultsOfSchema(schema, { ...example, tweet: example['item'] })).not.toEqual([]);
  });
});
