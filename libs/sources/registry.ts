import { SOURCE_IDS, type Criteria, type SourceId } from '#contracts';
import { createAddressPolicy, literalAddressFault, parseEgressAllow } from '#http-out';
import type { Fault } from '#kernel';
import { AI_ANSWERS_SETTINGS, aiAnswersSettings, createAiAnswersConnector } from './ai_answers/index.js';
import { createBlueskyConnector } from './bluesky/index.js';
import { createGithubConnector } from './github/index.js';
import { createHackernewsConnector } from './hackernews/index.js';
import { createLemmyConnector } from './lemmy/index.js';
import { createMastodonConnector } from './mastodon/index.js';
import { createProducthuntConnector } from './producthunt/index.js';
import { createRedditConnector } from './reddit/index.js';
import { createRssConnector } from './rss/index.js';
import type { SourceConnector } from './source.js';
import { createStackoverflowConnector } from './stackoverflow/index.js';
import { createTiktokConnector } from './tiktok/index.js';
import { createVintedConnector } from './vinted/index.js';
import { createXConnector } from './x/index.js';
import { createYoutubeConnector } from './youtube/index.js';

/** The environment variables of sources. */
export type SourceEnv = Readonly<Record<string, string | undefined>>;

/** One source in this installation. */
export interface SourceSetup {
  /** Present even if settings are missing, because Earshot also uses it to check criteria. */
  connector: SourceConnector;
  /** True if no required setting is missing. */
  configured: boolean;
  /** The missing settings, for example `SOURCE_REDDIT_CLIENT_ID`, or `A or B` if one of several is enough. */
  missingSettings: string[];
  /** `SOURCE_<ID>_ENABLED`. */
  enabled: boolean;
  /** `SOURCE_<ID>_URL`: scheme, host and port of every request of this source. */
  baseUrl?: string;
}

interface RegistryLine {
  create(env: SourceEnv): SourceConnector;
  /** The source's environment variables by name, with their descriptions for `npm run config`. */
  settings?: Readonly<Record<string, string>>;
  /** True if the source is disabled unless `SOURCE_<ID>_ENABLED=true`. */
  offByDefault?: boolean;
}

// A new source needs a folder, its id and envelope key in #contracts, and an entry here. Without the entry, this file
// does not compile.
const REGISTRY: Readonly<Record<SourceId, RegistryLine>> = {
  x: {
    create: (env) => createXConnector({ token: env['SOURCE_X_TOKEN'] ?? '' }),
    settings: { SOURCE_X_TOKEN: 'bearer token of an app from developer.x.com; required' },
  },
  reddit: {
    create: (env) =>
      createRedditConnector({
        clientId: env['SOURCE_REDDIT_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_REDDIT_CLIENT_SECRET'] ?? '',
      }),
    settings: {
      SOURCE_REDDIT_CLIENT_ID: 'id of an app from reddit.com/prefs/apps; required',
      SOURCE_REDDIT_CLIENT_SECRET: 'secret of the app; required',
    },
  },
  youtube: {
    create: (env) => createYoutubeConnector({ key: env['SOURCE_YOUTUBE_TOKEN'] ?? '' }),
    settings: { SOURCE_YOUTUBE_TOKEN: 'API key of the YouTube Data API; required' },
  },
  tiktok: {
    create: (env) =>
      createTiktokConnector({
        clientId: env['SOURCE_TIKTOK_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_TIKTOK_CLIENT_SECRET'] ?? '',
      }),
    settings: {
      SOURCE_TIKTOK_CLIENT_ID: 'client key of the Research API; required',
      SOURCE_TIKTOK_CLIENT_SECRET: 'client secret; required',
    },
  },
  bluesky: {
    create: (env) =>
      createBlueskyConnector({
        clientId: env['SOURCE_BLUESKY_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_BLUESKY_CLIENT_SECRET'] ?? '',
      }),
    settings: {
      SOURCE_BLUESKY_CLIENT_ID: 'handle of an account; required',
      SOURCE_BLUESKY_CLIENT_SECRET: 'app password of the account; required',
    },
  },
  hackernews: { create: () => createHackernewsConnector() },
  mastodon: {
    create: (env) =>
      createMastodonConnector({
        instance: env['SOURCE_MASTODON_INSTANCE'] ?? '',
        token: env['SOURCE_MASTODON_TOKEN'] ?? '',
      }),
    settings: {
      SOURCE_MASTODON_INSTANCE: 'server to search; default mastodon.social',
      SOURCE_MASTODON_TOKEN: 'access token of the server: searches full text instead of hashtags only',
    },
  },
  lemmy: {
    create: (env) =>
      createLemmyConnector({
        instance: env['SOURCE_LEMMY_INSTANCE'] ?? '',
        token: env['SOURCE_LEMMY_TOKEN'] ?? '',
      }),
    settings: {
      SOURCE_LEMMY_INSTANCE: 'server to search; default lemmy.world',
      SOURCE_LEMMY_TOKEN: 'token of the server; optional',
    },
  },
  github: {
    create: (env) => createGithubConnector({ token: env['SOURCE_GITHUB_TOKEN'] ?? '' }),
    settings: { SOURCE_GITHUB_TOKEN: 'access token: allows three times as many searches, and discussions' },
  },
  producthunt: {
    create: (env) =>
      createProducthuntConnector({
        token: env['SOURCE_PRODUCTHUNT_TOKEN'] ?? '',
        clientId: env['SOURCE_PRODUCTHUNT_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_PRODUCTHUNT_CLIENT_SECRET'] ?? '',
      }),
    settings: {
      SOURCE_PRODUCTHUNT_TOKEN: 'developer token; required, or the two settings below',
      SOURCE_PRODUCTHUNT_CLIENT_ID: 'id of an application',
      SOURCE_PRODUCTHUNT_CLIENT_SECRET: 'secret of the application',
    },
  },
  stackoverflow: {
    create: (env) => createStackoverflowConnector({ key: env['SOURCE_STACKOVERFLOW_TOKEN'] ?? '' }),
    settings: { SOURCE_STACKOVERFLOW_TOKEN: 'key from stackapps.com: 10,000 requests a day instead of 300' },
  },
  rss: { create: () => createRssConnector() },
  ai_answers: {
    create: (env) => createAiAnswersConnector(aiAnswersSettings(env)),
    settings: AI_ANSWERS_SETTINGS,
  },
  vinted: { create: () => createVintedConnector(), offByDefault: true },
};

/** Returns the environment variables of all sources, except `_URL`, `_ENABLED` and `_LANES`. */
export function sourceSettings(): { name: string; description: string }[] {
  return SOURCE_IDS.flatMap((id) =>
    Object.entries(REGISTRY[id].settings ?? {}).map(([name, description]) => ({ name, description })),
  );
}

/**
 * Creates all sources, with their settings from the environment.
 * @throws Error that names a faulty setting
 */
export function createSources(env: SourceEnv): Map<SourceId, SourceSetup> {
  return new Map(SOURCE_IDS.map((id) => [id, setUp(id, env)]));
}

function setUp(id: SourceId, env: SourceEnv): SourceSetup {
  const line = REGISTRY[id];
  const connector = refusingPrivateServers(line.create(env), env);
  const missingSettings = connector.requiredSettings
    .map((names) => [names].flat())
    .filter((names) => !names.some((name) => name.split(' and ').every((one) => env[one])))
    .map((names) => names.join(names.some((name) => name.includes(' and ')) ? ', or ' : ' or '));
  const baseUrl = baseUrlOf(id, env);
  return {
    connector,
    configured: missingSettings.length === 0,
    missingSettings,
    enabled: enabledOf(id, env, line.offByDefault !== true),
    ...(baseUrl !== undefined && { baseUrl }),
  };
}

/**
 * Adds a fault for each server of the criteria whose address is `localhost` or a private IP address that `EGRESS_ALLOW`
 * does not permit, because the outbound client would refuse the server at every check.
 */
function refusingPrivateServers(connector: SourceConnector, env: SourceEnv): SourceConnector {
  if (!connector.namedServers) return connector;
  const permits = createAddressPolicy(parseEgressAllow(env['EGRESS_ALLOW'] ?? ''));
  const checkCriteria = (criteria: Criteria): Fault[] => [
    ...connector.checkCriteria(criteria),
    ...(connector.namedServers?.(criteria) ?? []).flatMap(({ path, url }) => {
      const message = literalAddressFault(url, permits);
      return message === undefined ? [] : [{ path, message }];
    }),
  ];
  return { ...connector, checkCriteria };
}

function enabledOf(id: SourceId, env: SourceEnv, byDefault: boolean): boolean {
  const name = settingName(id, 'ENABLED');
  switch (env[name]?.trim().toLowerCase()) {
    case undefined:
    case '':
      return byDefault;
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      throw new Error(`${name} must be true or false`);
  }
}

function baseUrlOf(id: SourceId, env: SourceEnv): string | undefined {
  const name = settingName(id, 'URL');
  const text = env[name]?.trim();
  if (!text) return undefined;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new Error(`${name} must be an http or https address, for example https://proxy.example.org`);
  }
  return new URL(text).origin;
}

function settingName(id: SourceId, what: string): string {
  return `SOURCE_${id.toUpperCase()}_${what}`;
}
