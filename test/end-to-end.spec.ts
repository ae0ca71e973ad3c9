import { createHmac } from 'node:crypto';
import { startProgram, startServices, until, type Program, type ServiceName } from '#testing';
import { setStage, watchKeyword, openCustomer, type Stage } from './scenario.js';

const SOURCES = ['hackernews', 'reddit', 'bluesky', 'rss'] as const;
const ALL_PROCESSES: ServiceName[] = [
  'gateway',
  'keywords',
  'polling',
  'polling',
  'analysis',
  'billing',
  'delivery',
  'delivery',
];

describe.each([
  {
    layout: 'Earshot with all services in one process',
    start: async (env: NodeJS.ProcessEnv) => [await startProgram('earshot', env)],
  },
  {
    layout: 'Earshot with one process for each service, but two processes for polling and two for delivery',
    start: (env: NodeJS.ProcessEnv) => startServices(env, ALL_PROCESSES),
  },
])('$layout', ({ start }) => {
  let stage: Stage;
  let programs: Program[] = [];

  beforeAll(async () => {
    stage = await setStage();
    programs = await start(stage.env);
  }, 90_000);

  afterAll(async () => {
    await Promise.all(programs.map((program) => program.stop()));
    await stage.close();
  });

  it('turns a post into a signed webhook, a mention and a stored event with the same bytes', async () => {
    const { simulator } = stage;
    const { api, signingSecret } = await openCustomer(stage, programs[0]?.url ?? '');
    simulator.world.publish('rss', {
      title: 'Zephyr Kettle, the old story',
      text: 'from before',
      community: 'tech-wire',
    });
    const keyword = await watchKeyword(api, {
      name: 'Zephyr Kettle',
      refresh_interval_seconds: 1,
      global_criteria: { market: 'global', query: 'Zephyr Kettle' },
      sources: SOURCES.map((source) => ({
        source,
        enabled: true,
        ...(source === 'rss'
          ? {
              searches: [
                { overrides: { filters: { feed_urls: ['http://feeds.example.org/feeds/tech-wire.rss'] } } },
              ],
            }
          : {}),
      })),
      webhook_url: `${simulator.url}/hooks/end-to-end`,
      mute_rules: [{ value: 'giveaway', match: 'word' }],
      vip_authors: ['famous_reviewer'],
    });

    for (const source of SOURCES) {
      const community = source === 'rss' ? { community: 'tech-wire' } : {};
      simulator.world.publish(source, {
        title: `On ${source}`,
        text: 'My zephyr kettle sings',
        author: 'famous_reviewer',
        ...community,
      });
      simulator.world.publish(source, {
        title: `Near miss on ${source}`,
        text: 'The zephyr kettles of old',
        ...community,
      });
      simulator.world.publish(source, {
        title: `Muted on ${source}`,
        text: 'Zephyr Kettle giveaway!',
        ...community,
      });
    }

    const mentions = await until(
      'four mentions are readable',
      async () => {
        const { body } = await api.get('/v1/mentions');
        return body.data.length === SOURCES.length && body.data;
      },
      90_000,
    );
    expect(mentions.map((mention: { source: string }) => mention.source).sort()).toEqual([...SOURCES].sort());
    for (const mention of mentions)
      expect(mention).toMatchObject({
        keywordId: keyword.id,
        matchedTerms: ['Zephyr Kettle'],
        backfilled: false,
        vip: mention.source !== 'rss' || mention.vip,
      });

    const dropped = await until('the muted items are stored with their reason', async () => {
      const { body } = await api.get(`/v1/queries/${keyword.id}/results?include=dropped`);
      const found = body.data.filter((mention: { dropped: unknown }) => mention.dropped);
      return found.length === SOURCES.length && found;
    });
    expect(dropped[0].dropped).toEqual({ reason: 'muted', rule: 'giveaway' });

    const deliveries = await until('each mention is delivered', () => {
      const got = simulator.receiver.deliveries('end-to-end');
      return got.length >= SOURCES.length && got;
    });
    expect(new Set(deliveries.map(({ eventId }) => eventId))).toEqual(
      new Set(mentions.map(({ id }: { id: string }) => id)),
    );
    for (const delivery of deliveries) {
      expect(delivery.verified).toBe(true);
      const [t, v1] = String(delivery.headers['x-signature'])
        .split(',')
        .map((part) => part.slice(part.indexOf('=') + 1));
      expect(v1).toBe(createHmac('sha256', signingSecret).update(`${t}.${delivery.body}`).digest('hex'));
    }

    const bodies = new Set(deliveries.map(({ body }) => body));
    for (const watch of keyword.watches) {
      const replay = await api.get(`/v1/${watch.source}/watches/${watch.id}/events`);
      expect(replay.body.data).toHaveLength(1);
      const bytes = replay.text.slice('{"data":['.length, replay.text.lastIndexOf('],"since"'));
      expect([`${watch.source} is replayed as it was delivered`, bodies.has(bytes)]).toEqual([
        `${watch.source} is replayed as it was delivered`,
        true,
      ]);
    }

    const activity = await until('checks and deliveries are in the activity', async () => {
      const { body } = await api.get(`/v1/keywords/${keyword.id}/activity?limit=500`);
      const delivered = body.activity.filter(({ type }: { type: string }) => type === 'webhook.delivered');
      return delivered.length === SOURCES.length && body.activity;
    });
    expect(
      activity.some(
        ({ type, source }: { type: string; source: string }) =>
          type === 'poll.completed' && source === 'reddit',
      ),
    ).toBe(true);

    const why = await api.get(`/v1/mentions/${mentions[0].id}/why`);
    expect(why.body).toMatchObject({ matchMode: 'word', mutes: [{ value: 'giveaway', hit: false }] });

    expect((await api.delete(`/v1/keywords/${keyword.id}`)).status).toBe(204);
    expect((await api.get(`/v1/keywords/${keyword.id}`)).body.state).toBe('retired');
    const [watch] = keyword.watches;
    const replayable = await api.get(`/v1/${watch?.source}/watches/${watch?.id}/events`);
    expect(replayable.body.data).toHaveLength(1);
  }, 240_000);

  it('charges nothing for a check that the source answers with 429, and continues after Retry-After', async () => {
    const { simulator } = stage;
    const { api } = await openCustomer(stage, programs[0]?.url ?? '');
    const keyword = await watchKeyword(api, {
      name: 'Quiet',
      refreshIntervalSeconds: 1,
      globalCriteria: { market: 'global', query: 'quiet lantern' },
      sources: [{ source: 'bluesky', enabled: true }],
    });
    simulator.faults.add({ source: 'bluesky', kind: '429', times: 1, retryAfterSeconds: 2 });
    const failed = await until('the failed check is reported', async () => {
      const { body } = await api.get(`/v1/keywords/${keyword.id}/activity`);
      return body.activity.find(({ type }: { type: string }) => type === 'poll.failed');
    });
    expect(failed).toMatchObject({ source: 'bluesky', creditsCharged: 0, eventsEmitted: 0 });
    expect(failed.message).toContain('429');
    simulator.world.publish('bluesky', { text: 'a quiet lantern at last' });
    await until(
      'a later check finds the new item',
      async () => {
        const { body } = await api.get('/v1/mentions');
        return body.data.length === 1;
      },
      30_000,
    );
  }, 120_000);
});
