import { SOURCE_IDS, type SourceId } from '#contracts';
import { aiAnswersSettings, createAiAnswersConnector } from './ai_answers/index.js';
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

/** The environment, as far as sources read it. */
export type SourceEnv = Readonly<Record<string, string | undefined>>;

/** One source as this installation has it. */
export interface SourceSetup {
  /** Absent while nobody has built it. Present although settings are missing: it still checks criteria. */
  connector?: SourceConnector;
  /** Built, and every setting that it needs is there. */
  configured: boolean;
  /** What to set, for example `SOURCE_REDDIT_CLIENT_ID`, or `A or B` where one of several is enough. */
  missingSettings: string[];
  /** `SOURCE_<ID>_ENABLED`. */
  enabled: boolean;
  /** `SOURCE_<ID>_URL`: scheme, host and port of every request of this source. */
  baseUrl?: string;
}

interface RegistryLine {
  /** Absent: not built yet. */
  create?: (env: SourceEnv) => SourceConnector;
  /** Off until `SOURCE_<ID>_ENABLED=true`. */
  offByDefault?: boolean;
}

// A new source is one folder, its id in #contracts, and its line here, which the compiler then demands.
const REGISTRY: Readonly<Record<SourceId, RegistryLine>> = {
  x: { create: (env) => createXConnector({ token: env['SOURCE_X_TOKEN'] ?? '' }) },
  reddit: {
    create: (env) =>
      createRedditConnector({
        clientId: env['SOURCE_REDDIT_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_REDDIT_CLIENT_SECRET'] ?? '',
      }),
  },
  youtube: { create: (env) => createYoutubeConnector({ key: env['SOURCE_YOUTUBE_TOKEN'] ?? '' }) },
  tiktok: {
    create: (env) =>
      createTiktokConnector({
        clientId: env['SOURCE_TIKTOK_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_TIKTOK_CLIENT_SECRET'] ?? '',
      }),
  },
  bluesky: {
    create: (env) =>
      createBlueskyConnector({
        clientId: env['SOURCE_BLUESKY_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_BLUESKY_CLIENT_SECRET'] ?? '',
      }),
  },
  hackernews: { create: () => createHackernewsConnector() },
  mastodon: {
    create: (env) =>
      createMastodonConnector({
        instance: env['SOURCE_MASTODON_INSTANCE'] ?? '',
        token: env['SOURCE_MASTODON_TOKEN'] ?? '',
      }),
  },
  lemmy: {
    create: (env) =>
      createLemmyConnector({
        instance: env['SOURCE_LEMMY_INSTANCE'] ?? '',
        token: env['SOURCE_LEMMY_TOKEN'] ?? '',
      }),
  },
  github: { create: (env) => createGithubConnector({ token: env['SOURCE_GITHUB_TOKEN'] ?? '' }) },
  producthunt: {
    create: (env) =>
      createProducthuntConnector({
        token: env['SOURCE_PRODUCTHUNT_TOKEN'] ?? '',
        clientId: env['SOURCE_PRODUCTHUNT_CLIENT_ID'] ?? '',
        clientSecret: env['SOURCE_PRODUCTHUNT_CLIENT_SECRET'] ?? '',
      }),
  },
  stackoverflow: {
    create: (env) => createStackoverflowConnector({ key: env['SOURCE_STACKOVERFLOW_TOKEN'] ?? '' }),
  },
  rss: { create: () => createRssConnector() },
  ai_answers: { create: (env) => createAiAnswersConnector(aiAnswersSettings(env)) },
  vinted: { create: () => createVintedConnector(), offByDefault: true },
};

/** Every source of the interface, as the environment sets it up. Throws an `Error` that names a faulty setting. */
export function createSources(env: SourceEnv): Map<SourceId, SourceSetup> {
  return new Map(SOURCE_IDS.map((id) => [id, setUp(id, env)]));
}

function setUp(id: SourceId, env: SourceEnv): SourceSetup {
  const line = REGISTRY[id];
  const connector = line.create?.(env);
  const missingSettings = (connector?.requiredSettings ?? [])
    .map((names) => [names].flat())
    .filter((names) => !names.some((name) => env[name]))
    .map((names) => names.join(' or '));
  const baseUrl = baseUrlOf(id, env);
  return {
    ...(connector && { connector }),
    configured: connector !== undefined && missingSettings.length === 0,
    missingSettings,
    enabled: enabledOf(id, env, line.offByDefault !== true),
    ...(baseUrl !== undefined && { baseUrl }),
  };
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
