import { startProgram, until, type Program } from '#testing';
import { simulatedLlm } from '../apps/simulator/index.js';
import { expectAuditAgrees } from './audit.js';
import { setStage, watchKeyword, openCustomer, type Customer, type Stage } from './scenario.js';

let stage: Stage;
let program: Program;
let customer: Customer;

beforeAll(async () => {
  stage = await setStage();
  program = await startProgram('earshot', { ...stage.env, ...simulatedLlm(stage.simulator.url) });
  customer = await openCustomer(stage, program.url);
}, 90_000);
afterAll(async () => {
  await program?.stop();
  await stage?.close();
});
afterEach(() => stage.simulator.faults.clear());

const STEP = {
  instruction: 'Which product, and is it urgent?',
  schema: { product: { type: 'string', maxLength: 20 }, urgent: { type: 'boolean' } },
};
const keyword = (query: string, more: object) => ({
  name: query,
  refresh_interval_seconds: 1,
  global_criteria: { market: 'global', query },
  sources: [{ source: 'hackernews', enabled: true }],
  webhook_url: `${stage.simulator.url}/hooks/${query}`,
  ...more,
});
const publish = (text: string) => stage.simulator.world.publish('hackernews', { kind: 'comment', text });
const delivered = (hook: string, count: number) =>
  until(`${count} events are delivered`, () => {
    const found = stage.simulator.receiver.deliveries(hook);
    return found.length >= count && found.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  });

it('an event with an agent step is delivered once, and contains the answer of the model, like the mention [readings.agent-block]', async () => {
  const { api, accountId } = customer;
  const body = keyword('kettle', {
    ai_step: STEP,
    ai_enabled: true,
    ai_preset: 'custom',
    ai_prompt: 'Sort by theme.',
  });
  const { id } = await watchKeyword(api, body);
  publish(
    'My kettle broke; sentiment=negative; intent=complaint; label=Repairs; product=Acme 3; urgent=true',
  );
  const [event] = await delivered('kettle', 1);
  expect(event).toMatchObject({
    ai: {
      status: 'completed',
      output: { product: 'Acme 3', urgent: true },
      model: 'sim-chat-1',
      version: '1',
    },
    analysis: { sentiment: 'negative', intent: 'complaint', reader: 'llm', model: 'sim-chat-1' },
  });
  const mention = await until('the mention is readable', async () => {
    const { body: page } = await api.get(`/v1/keywords/${id}/results`);
    return page.data[0];
  });
  expect(mention).toMatchObject({
    id: event?.id,
    ai: event?.ai,
    bucket: { key: 'repairs', label: 'Repairs' },
  });
  const { body: why } = await api.get(`/v1/mentions/${mention.id}/why`);
  const reading = (kind: string) => why.readings.find((one: { kind: string }) => one.kind === kind);
  for (const kind of ['analysis', 'bucket', 'agent_step'])
    expect(reading(kind)).toMatchObject({
      reader: 'llm',
      model: 'sim-chat-1',
      promptVersion: '1',
    });
  expect(reading('agent_step').result).toEqual(event?.ai);
  expect(stage.simulator.receiver.deliveries('kettle')).toHaveLength(1);
  await expectAuditAgrees(stage.stores, accountId);
  await until('nothing is reserved', async () => (await api.get('/v1/credits')).body.creditsReserved === 0);
});

it('an event that waits for its agent step does not delay events of other keywords and watches [readings.agent-alone]', async () => {
  const { api } = customer;
  await watchKeyword(api, keyword('hanging', { ai_step: STEP, sentiment_enabled: false }));
  await watchKeyword(api, keyword('plain', { sentiment_enabled: false }));
  const watch = await api.post('/v1/hackernews/watches', {
    criteria: { query: 'watched' },
    refresh_interval_seconds: 1,
    webhook_url: `${stage.simulator.url}/hooks/watched`,
    ai: STEP,
  });
  await until('the watch has had its first check', async () => {
    const { body } = await api.get(`/v1/hackernews/watches/${watch.body.id}`);
    return body.lastStatus === 'completed';
  });
  stage.simulator.faults.add({ source: 'llm', kind: 'hang', times: 1 });
  publish('hanging, plain');
  await until('the model is asked', () => stage.simulator.faults.pending.length === 0);
  publish('watched; product=Acme 3');
  expect((await delivered('plain', 1))[0]).toMatchObject({ ai: null });
  expect((await delivered('watched', 1))[0]).toMatchObject({ ai: { output: { product: 'Acme 3' } } });
  expect(stage.simulator.receiver.deliveries('hanging')).toEqual([]);
});
