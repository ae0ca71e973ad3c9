import { startProgram, until, type Program } from '#testing';
import { setStage, watchKeyword, openCustomer, type Customer, type Stage } from './scenario.js';

let stage: Stage;
let program: Program;
let customer: Customer;

beforeAll(async () => {
  stage = await setStage();
  program = await startProgram('earshot', stage.env);
  customer = await openCustomer(stage, program.url);
}, 60_000);
afterAll(async () => {
  await program?.stop();
  await stage?.close();
});

const KEYWORDS = 16;
const TURNS = 3;
const EVENTS = ['keyword.paused', 'keyword.resumed'];

const keywordBody = (hook: string) => ({
  name: hook,
  refreshIntervalSeconds: 1,
  globalCriteria: { market: 'global', query: hook },
  sources: [{ source: 'hackernews', enabled: true }],
  webhookUrl: `${stage.simulator.url}/hooks/${hook}`,
  webhookEvents: EVENTS,
});

/** Creates and purges keywords one after another until `stop` is called, at most 500. */
function purgeContinuously(): { stop(): Promise<number> } {
  let stopping = false;
  const purges = (async () => {
    let count = 0;
    for (; !stopping && count < 500; count += 1) {
      const { body } = await customer.api.post('/v1/keywords', keywordBody('purged'));
      await customer.api.post(`/v1/keywords/${body.id}/pause`, {});
      const gone = await customer.api.delete(`/v1/keywords/${body.id}?purge=true`);
      expect(gone.status).toBe(204);
    }
    return count;
  })();
  return {
    stop() {
      stopping = true;
      return purges;
    },
  };
}

it('every webhook of other keywords is delivered while keywords are purged continuously', async () => {
  const hooks = Array.from({ length: KEYWORDS }, (_, n) => `kept-${n}`);
  const kept = await Promise.all(hooks.map((hook) => watchKeyword(customer.api, keywordBody(hook))));
  const purging = purgeContinuously();
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const verb of ['pause', 'resume'])
      for (const { id } of kept)
        expect((await customer.api.post(`/v1/keywords/${id}/${verb}`, {})).status).toBe(200);
  stage.simulator.world.publish('hackernews', { text: hooks.join(' ') });
  const received = (hook: string) =>
    stage.simulator.receiver.deliveries(hook).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  const wanted = [...EVENTS.flatMap((type) => Array<string>(TURNS).fill(type)), 'hn_item.created'].sort();
  await until(
    'every keyword has had its post',
    () => hooks.every((hook) => received(hook).includes('hn_item.created')),
    40_000,
  ).catch(() => undefined);
  const purged = await purging.stop();
  await until(
    'nothing is missing',
    () => hooks.every((hook) => received(hook).length >= wanted.length),
    30_000,
  ).catch(() => undefined);
  expect(purged).toBeGreaterThan(5);
  expect(Object.fromEntries(hooks.map((hook) => [hook, received(hook).sort()]))).toEqual(
    Object.fromEntries(hooks.map((hook) => [hook, wanted])),
  );
}, 120_000);
