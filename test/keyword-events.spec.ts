import { ApiClient, openAccount, startProgram, until, type Program } from '#testing';
import { BRANDS } from '../apps/earshot/demo-account.js';
import { makeSpike, setUpChannels } from '../apps/earshot/demo-channels.js';
import { simulatedChannels } from '../apps/simulator/index.js';
import { setStage, watchKeyword, openCustomer, type Customer, type Stage } from './scenario.js';

let stage: Stage;
let program: Program;
let customer: Customer;

beforeAll(async () => {
  stage = await setStage({}, { historyPosts: 60 });
  program = await startProgram('earshot', { ...stage.env, ...simulatedChannels(stage.simulator) });
  customer = await openCustomer(stage, program.url);
}, 60_000);
afterAll(async () => {
  await program?.stop();
  await stage?.close();
});

const keywordBody = (hook: string, more: object = {}) => ({
  name: hook,
  refreshIntervalSeconds: 1,
  globalCriteria: { market: 'global', query: hook },
  sources: [{ source: 'hackernews', enabled: true }],
  webhookUrl: `${stage.simulator.url}/hooks/${hook}`,
  ...more,
});

const deliveredTo = (hook: string) =>
  stage.simulator.receiver
    .deliveries(hook)
    .map(({ body }) => JSON.parse(body) as { id: string; type: string; data: { reason: string } });

describe('a keyword that is paused and resumed', () => {
  it('sends both events to its webhook, in the usual envelope, if it subscribes to them [states.pause-events, keywords.pause-told, states.attempt-recorded, alerts.activity]', async () => {
    const events = { webhookEvents: ['keyword.paused', 'keyword.resumed'] };
    const keyword = await watchKeyword(customer.api, keywordBody('vocal', events));
    const silent = await watchKeyword(customer.api, keywordBody('silent'));
    for (const verb of ['pause', 'resume'])
      for (const { id } of [silent, keyword])
        expect((await customer.api.post(`/v1/keywords/${id}/${verb}`, {})).status).toBe(200);
    const both = await until('both events are delivered', () => {
      const all = deliveredTo('vocal');
      return all.length >= 2 && all;
    });
    const [paused, resumed] = events.webhookEvents.map((type) => both.find((event) => event.type === type));
    expect(paused).toEqual({
      id: expect.any(String),
      type: 'keyword.paused',
      watchId: null,
      keywordId: keyword.id,
      ...Object.fromEntries(
        ['listing', 'tweet', 'post', 'video', 'item', 'article', 'answer', 'previousPrice', 'ai'].map(
          (key) => [key, null],
        ),
      ),
      occurredAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      data: { reason: 'user', creditsRemaining: expect.any(Number) },
    });
    expect(resumed).toMatchObject({ type: 'keyword.resumed', data: { reason: 'user' } });
    expect(stage.simulator.receiver.deliveries('vocal').every(({ verified }) => verified)).toBe(true);
    expect(deliveredTo('silent')).toEqual([]);
    const path = `/v1/keywords/${keyword.id}/activity?limit=500`;
    const record = await until('its delivery is in the activity', async () => {
      const { activity } = (await customer.api.get(path)).body;
      return activity.find(
        ({ type, eventId }: { type: string; eventId?: string }) =>
          type.startsWith('webhook.') && eventId === paused?.id,
      );
    });
    expect(record).toMatchObject({
      type: 'webhook.delivered',
      source: null,
      watchId: null,
      statusCode: 200,
    });
    const { activity } = await until('the events that were not sent are in the activity', async () => {
      const { body } = await customer.api.get(`/v1/keywords/${silent.id}/activity?limit=500`);
      return body.activity.some(({ type }: { type: string }) => type === 'keyword.resumed') && body;
    });
    expect(activity.filter(({ source }: { source: string | null }) => source === null)).toMatchObject(
      ['keyword.resumed', 'keyword.paused'].map((type) => ({ type, watchId: null, message: 'user' })),
    );
  }, 60_000);
});

describe('a search that starts over', () => {
  it('sends events only about items that appear after its first check [states.started-over-silently, keywords.baseline, states.check-recorded]', async () => {
    const { world } = stage.simulator;
    world.publish('hackernews', { kind: 'comment', text: 'The teal walrus of old' });
    const keyword = await watchKeyword(customer.api, keywordBody('ochre'));
    const query = { globalCriteria: { market: 'global', query: 'teal walrus' } };
    const { body } = await customer.api.patch(`/v1/queries/${keyword.id}`, query);
    const [watch] = body.watches;
    expect(body.resetSearches).toMatchObject([
      { previousWatchId: keyword.watches[0]?.id, watchId: watch.id },
    ]);
    await until('the new search has had its first check', async () => {
      const { body: now } = await customer.api.get(`/v1/keywords/${keyword.id}`);
      return now.watches[0].lastStatus === 'completed';
    });
    world.publish('hackernews', { kind: 'comment', text: 'A new teal walrus' });
    const mentions = await until('the new item is readable', async () => {
      const { body: results } = await customer.api.get(`/v1/keywords/${keyword.id}/results`);
      return results.data.length > 0 && results.data;
    });
    expect(mentions.map(({ text }: { text: string }) => text)).toEqual(['A new teal walrus']);
    await until('the event is delivered', () => deliveredTo('ochre').length > 0);
    expect(deliveredTo('ochre').map(({ id }) => id)).toEqual([mentions[0].id]);
    const first = await until('the checks are in the activity', async () => {
      const { body } = await customer.api.get(`/v1/keywords/${keyword.id}/activity?limit=500`);
      return body.activity.filter((one: { watchId: string }) => one.watchId === watch.id).at(-1);
    });
    expect(first).toMatchObject({ type: 'poll.completed', eventsEmitted: 0, creditsCharged: 1 });
  }, 60_000);
});

describe('the channels of the demo', () => {
  const SERVICES = ['slack', 'discord', 'teams', 'telegram', 'smtp'];

  it('get a message about a complaint on every service, and a spike alert about many posts at once [alerts.actions, channels.formats]', async () => {
    const { simulator, stores } = stage;
    const { apiKey, signingSecret } = await openAccount(stores.natsUrl);
    simulator.receiver.addSecret('*', signingSecret);
    const keyword = await watchKeyword(new ApiClient(program.url, apiKey), {
      ...keywordBody('demo', { backfill: true, subjectRole: 'own' }),
      globalCriteria: { market: 'global', terms: BRANDS[0]?.terms },
      sources: ['hackernews', 'reddit', 'bluesky'].map((source) => ({ source, enabled: true })),
    });
    const { signal } = new AbortController();
    await setUpChannels(program.url, { apiKey, keywordIds: [keyword.id] }, simulator, signal);
    simulator.inbox.clear();
    const text =
      'I am cancelling my Acme Rocket subscription, the app crashes every day and support does not answer';
    simulator.world.publish('hackernews', { title: text, text });
    await until(
      'the rule has notified the channels',
      () =>
        SERVICES.every((service) =>
          simulator.inbox.messages(service).some((one) => one.text.includes('cancelling')),
        ),
      60_000,
    );
    await until(
      'the channel of the kind webhook has a message too',
      () => simulator.receiver.deliveries('channel').length > 0,
    );
    await makeSpike(simulator, signal, 0);
    await until(
      'the alert arrives',
      () =>
        SERVICES.every((service) => simulator.inbox.messages(service).some((one) => /spike/i.test(one.text))),
      60_000,
    );
    expect(
      simulator.inbox.messages().filter(({ fault, pings }) => fault !== undefined || pings.length > 0),
    ).toEqual([]);
    const alerts = await until('the webhook of the keyword gets the alert', () => {
      const found = deliveredTo('demo').filter(({ type }) => type === 'keyword.alert_fired');
      return found.length > 0 && found;
    });
    expect(alerts).toMatchObject([{ data: { rule: { spike: 'low' } } }]);
  }, 180_000);
});
