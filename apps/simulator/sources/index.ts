import type { SourceId } from '#contracts';
import { aiAnswersSource } from './ai_answers/routes.js';
import { blueskySource } from './bluesky/routes.js';
import { githubSource } from './github/routes.js';
import { hackernewsSource } from './hackernews/routes.js';
import { lemmySource } from './lemmy/routes.js';
import { mastodonSource } from './mastodon/routes.js';
import { producthuntSource } from './producthunt/routes.js';
import { redditSource } from './reddit/routes.js';
import { rssSource } from './rss/routes.js';
import { stackoverflowSource } from './stackoverflow/routes.js';
import { tiktokSource } from './tiktok/routes.js';
import { vintedSource } from './vinted/routes.js';
import type { SimulatedSource } from './simulated-source.js';
import { xSource } from './x/routes.js';
import { youtubeSource } from './youtube/routes.js';

/** The sources of the simulator. */
export const SIMULATED: Readonly<Record<SourceId, SimulatedSource>> = {
  hackernews: hackernewsSource,
  reddit: redditSource,
  bluesky: blueskySource,
  rss: rssSource,
  x: xSource,
  youtube: youtubeSource,
  tiktok: tiktokSource,
  mastodon: mastodonSource,
  lemmy: lemmySource,
  github: githubSource,
  producthunt: producthuntSource,
  stackoverflow: stackoverflowSource,
  vinted: vintedSource,
  ai_answers: aiAnswersSource,
};

/** The names of the simulated sources. */
export const SIMULATED_SOURCES = Object.keys(SIMULATED) as SourceId[];
