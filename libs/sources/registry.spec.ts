import { SOURCE_IDS } from '#contracts';
import { createSources } from './index.js';

describe('the sources of an installation', () => {
  it('include every source id', () => {
    expect([...createSources({}).keys()]).toEqual([...SOURCE_IDS]);
  });

  it('are configured without settings if they need none, and otherwise list the missing settings', () => {
    const sources = createSources({});
    for (const id of ['hackernews', 'rss', 'lemmy', 'mastodon', 'stackoverflow', 'github'] as const) {
      expect(sources.get(id)).toMatchObject({ configured: true, missingSettings: [], enabled: true });
    }
    expect(sources.get('reddit')).toMatchObject({
      configured: false,
      missingSettings: ['SOURCE_REDDIT_CLIENT_ID', 'SOURCE_REDDIT_CLIENT_SECRET'],
      enabled: true,
    });
    expect(sources.get('bluesky')).toMatchObject({
      configured: false,
      missingSettings: ['SOURCE_BLUESKY_CLIENT_ID', 'SOURCE_BLUESKY_CLIENT_SECRET'],
    });
  });

  it('are configured if they have all their settings', () => {
    const env = {
      SOURCE_REDDIT_CLIENT_ID: 'a',
      SOURCE_REDDIT_CLIENT_SECRET: 'b',
      SOURCE_REDDIT_URL: 'http://127.0.0.1:4000/x',
    };
    expect(createSources(env).get('reddit')).toMatchObject({
      configured: true,
      missingSettings: [],
      baseUrl: 'http://127.0.0.1:4000',
    });
    const half = { ...env, SOURCE_REDDIT_CLIENT_SECRET: '' };
    expect(createSources(half).get('reddit')?.missingSettings).toEqual(['SOURCE_REDDIT_CLIENT_SECRET']);
  });

  it('can be disabled, and vinted is disabled by default', () => {
    const sources = createSources({ SOURCE_RSS_ENABLED: 'false', SOURCE_HACKERNEWS_ENABLED: '' });
    expect(['rss', 'hackernews', 'vinted'].map((id) => sources.get(id as 'rss')?.enabled)).toEqual([
      false,
      true,
      false,
    ]);
    expect(createSources({ SOURCE_VINTED_ENABLED: 'true' }).get('vinted')?.enabled).toBe(true);
  });

  it.each([
    [{ SOURCE_RSS_ENABLED: 'maybe' }, 'SOURCE_RSS_ENABLED must be true or false'],
    [
      { SOURCE_LEMMY_INSTANCE: 'localhost' },
      'SOURCE_LEMMY_INSTANCE must be the name of a server, for example lemmy.world',
    ],
    [
      { SOURCE_RSS_URL: 'proxy:1' },
      'SOURCE_RSS_URL must be an http or https address, for example https://proxy.example.org',
    ],
  ])('are refused if a setting is faulty: %j', (env, message) => {
    expect(() => createSources(env)).toThrow(message);
  });

  it('have a connector with their id, a budget of requests, and required settings with the prefix of the source', () => {
    for (const [id, { connector }] of createSources({})) {
      if (!connector) continue;
      expect(connector.id).toBe(id);
      const prefix = id === 'ai_answers' ? 'AI_' : `SOURCE_${id.toUpperCase()}_`;
      expect(connector.requiredSettings.flat().filter((name) => !name.startsWith(prefix))).toEqual([]);
      expect(connector.budget.requestsPerMinute).toBeGreaterThan(0);
    }
  });
});
