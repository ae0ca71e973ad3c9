import { agentStepReading, analysisReading, bucketReading, createLlm, type Llm } from '#llm';
import { createLogger } from '#telemetry';
import { simulatedLlm } from '../environment.js';
import { SimulatorClient } from '../testing/simulator-client.js';
import type { Fault } from '../faults.js';
import { answerTo } from './answers.js';

let client: SimulatorClient;
let llm: Llm;

function connect(more: Partial<Parameters<typeof createLlm>[0]> = {}): Llm {
  const {
    LLM_URL: url = '',
    LLM_MODEL: model = '',
    LLM_TOKEN: token = '',
  } = simulatedLlm(client.simulator.url);
  const budget = { concurrency: 4, requestsPerMinute: 6000, timeoutMs: 5_000 };
  const log = createLogger('spec', 'silent');
  return createLlm({ url, model, token, userAgent: 'spec', ...budget, ...more }, log);
}

beforeAll(async () => {
  client = await SimulatorClient.start();
});
afterAll(() => client.stop());
beforeEach(() => {
  llm = connect();
});
afterEach(async () => {
  client.simulator.faults.clear();
  client.simulator.requests.clear();
  await llm.close();
});

const subject = { names: ['Acme'], role: 'own', about: 'kettles' } as const;
const sentiment = analysisReading(subject);
const bucket = bucketReading('custom', subject);
const step = agentStepReading('Which product?', { product: { type: 'string' }, urgent: { type: 'boolean' } });
const within = (ms: number) => Date.now() + ms;
const fails = (kind: Fault['kind'], times: number, more: Partial<Fault> = {}) =>
  client.simulator.faults.add({ source: 'llm', kind, times, ...more });
const requests = () => client.simulator.requests.report('llm').total;

describe('the simulated language model', () => {
  it('answers each item of a request according to the text of the item', async () => {
    const items = [
      { text: 'A positive thing, praise and all' },
      { text: 'sentiment=negative; sentimentScore=-0.75; intent=churn_risk' },
      { text: 'The sky' },
    ];
    const { values, model, promptVersion } = await llm.askOnce(sentiment, items, within(5_000));
    expect(values.map((value) => [value?.sentiment, value?.sentimentScore, value?.intent])).toEqual([
      ['positive', 0, 'praise'],
      ['negative', -0.75, 'churn_risk'],
      ['neutral', 0, 'other'],
    ]);
    expect([model, promptVersion, requests()]).toEqual(['sim-chat-1', '1', 1]);
  });

  it('answers questions of agent steps and of buckets', async () => {
    const text = 'product=Acme Kettle 3; urgent=true';
    expect((await llm.askOnce(step, [{ text }], within(5_000))).values).toEqual([
      { product: 'Acme Kettle 3', urgent: true },
    ]);
    expect((await llm.askOnce(step, [{ text: 'nothing' }], within(5_000))).values).toEqual([
      { product: null, urgent: null },
    ]);
    const found = await llm.askOnce(bucket, [{ text: 'label=Shipping' }, { text: 'hm' }], within(5_000));
    expect(found.values).toEqual([{ label: 'Shipping' }, { label: null }]);
  });

  it('answers null if the text states null, even if other words of the text fit', () => {
    const field = { enum: ['urgent', 'neutral', null], type: ['string', 'null'] };
    const schema = { type: 'object', properties: { mood: field } };
    expect(answerTo(schema, [{ n: 0, text: 'mood=null; an urgent matter' }])).toEqual({ mood: null });
    expect(answerTo(schema, [{ n: 0, text: 'an urgent matter' }])).toEqual({ mood: 'urgent' });
  });

  it('refuses another token and another model; the error of the client shows `…` in place of the token', async () => {
    const withWrongToken = connect({ token: 'sk-stranger' });
    await expect(withWrongToken.askOnce(step, [{ text: 'x' }], within(5_000))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/answered 401: .*Incorrect API key provided: …/),
    });
    await withWrongToken.close();
    const other = connect({ model: 'gpt-9' });
    await expect(other.askOnce(step, [{ text: 'x' }], within(5_000))).rejects.toMatchObject({
      kind: 'refused',
    });
    await other.close();
  });

  it('refuses a schema with `maxLength`, and an object that allows other properties', async () => {
    const asked = async (answer: object) => {
      const schema = {
        type: 'object',
        properties: { answer },
        required: ['answer'],
        additionalProperties: false,
      };
      const body = {
        model: 'sim-chat',
        messages: [{ role: 'user', content: 'x' }],
        response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
      };
      return (await client.post('/llm/v1/chat/completions', body, { authorization: 'Bearer sim-llm' }))
        .status;
    };
    expect(await asked({ type: 'string' })).toBe(200);
    expect(await asked({ type: 'string', maxLength: 5 })).toBe(400);
    expect(await asked({ type: 'object', properties: {}, required: [] })).toBe(400);
  });

  it('lists its models, and computes embeddings of length 1 that are closer for texts that share words', async () => {
    const bearer = { authorization: 'Bearer sim-llm' };
    const models = (await client.ask('/llm/v1/models', bearer)).json<{ data: { id: string }[] }>();
    expect(models.data.map(({ id }) => id)).toEqual(['sim-chat', 'sim-embedding']);
    const input = ['the red kettle', 'a red kettle', 'stock markets fell'];
    const body = { model: 'sim-embedding', input };
    const { data } = (await client.post('/llm/v1/embeddings', body, bearer)).json<{
      data: { embedding: number[] }[];
    }>();
    const [one = [], two = [], three = []] = data.map(({ embedding }) => embedding);
    const dot = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
    expect(dot(one, one)).toBeCloseTo(1);
    expect(dot(one, two)).toBeGreaterThan(dot(one, three));
    expect((await client.post('/llm/v1/embeddings', body)).status).toBe(401);
  });
});

const READINGS = [
  ['sentiment', sentiment, 'sentiment=negative', { sentiment: 'negative' }],
  ['buckets', bucket, 'label=Shipping', { label: 'Shipping' }],
  ['agent steps', step, 'product=Acme', { product: 'Acme' }],
] as const;

describe.each(READINGS)('the client that asks the language model for %s', (_, reading, text, expected) => {
  const ask = (ms = 5_000) => llm.askOnce<unknown>(reading, [{ text }], within(ms));

  it.each(['invalid_json', 'schema_violation', 'cut_off'] as const)(
    'sends one more request after one answer with the fault %s, and uses the second answer',
    async (kind) => {
      fails(kind, 1);
      expect((await ask()).values).toEqual([expect.objectContaining(expected)]);
      expect(requests()).toBe(2);
    },
  );

  it.each(['invalid_json', 'schema_violation', 'cut_off'] as const)(
    'gives up after two answers with the fault %s, without a third request',
    async (kind) => {
      fails(kind, 0);
      expect((await ask()).values).toEqual([undefined]);
      expect(requests()).toBe(2);
    },
  );

  it('does not ask again about an item that the model declined', async () => {
    fails('declined', 0);
    expect((await ask()).values).toEqual([undefined]);
    expect(requests()).toBe(1);
  });

  it.each([
    ['429', 'rate_limited'],
    ['500', 'server_error'],
    ['503', 'server_error'],
    ['truncated', 'network'],
    ['html', 'server_error'],
    ['empty', 'server_error'],
    ['shape', 'server_error'],
    ['403', 'refused'],
  ] as const)('reports the fault %s as %s, and the next request succeeds', async (kind, as) => {
    fails(kind, 1, kind === '429' ? { retryAfterSeconds: 0 } : {});
    await expect(ask()).rejects.toMatchObject({ kind: as });
    expect((await ask()).values).toEqual([expect.objectContaining(expected)]);
  });

  it('uses a slow answer only if it arrives before the deadline', async () => {
    fails('slow', 1, { delayMs: 50 });
    expect((await ask()).values).toEqual([expect.objectContaining(expected)]);
    fails('slow', 1, { delayMs: 400 });
    await expect(ask(100)).rejects.toMatchObject({ kind: 'deadline' });
  });

  it('ends a request that hangs at its time limit, or at the deadline of the caller', async () => {
    fails('hang', 2);
    const withShortLimit = connect({ timeoutMs: 100 });
    await expect(withShortLimit.askOnce<unknown>(reading, [{ text }], within(5_000))).rejects.toMatchObject({
      kind: 'timeout',
    });
    await withShortLimit.close();
    await expect(ask(100)).rejects.toMatchObject({ kind: 'deadline' });
  });
});

describe('a caller that waits for the answer', () => {
  it('gets the answer after temporary failures', async () => {
    for (const kind of ['500', 'truncated', '429'] as const) fails(kind, 1, { retryAfterSeconds: 0 });
    expect((await llm.ask(step, [{ text: 'product=Acme' }], within(5_000))).values).toEqual([
      { product: 'Acme', urgent: null },
    ]);
    expect(requests()).toBe(4);
  });

  it('gets the error immediately if the error is permanent, or if the deadline comes before the next try', async () => {
    fails('403', 1);
    await expect(llm.ask(step, [{ text: 'x' }], within(5_000))).rejects.toMatchObject({ kind: 'refused' });
    fails('429', 1, { retryAfterSeconds: 10 });
    await expect(llm.ask(step, [{ text: 'x' }], within(5_000))).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    expect(requests()).toBe(2);
  });
});

it('a running request fails when the client is closed, and later requests fail too', async () => {
  fails('hang', 1);
  const hanging = llm.askOnce(step, [{ text: 'x' }], within(60_000));
  const ended = expect(hanging).rejects.toMatchObject({ kind: 'network' });
  while (requests() === 0) await new Promise(setImmediate);
  await llm.close();
  await ended;
  await expect(llm.askOnce(step, [{ text: 'x' }], within(5_000))).rejects.toMatchObject({ kind: 'network' });
});
