import type { SourceId } from '#contracts';
import { aiAnswersVoice } from './ai_answers/routes.js';
import { blueskyVoice } from './bluesky/routes.js';
import { githubVoice } from './github/routes.js';
import { hackernewsVoice } from './hackernews/routes.js';
import { lemmyVoice } from './lemmy/routes.js';
import { mastodonVoice } from './mastodon/routes.js';
import { producthuntVoice } from './producthunt/routes.js';
import { redditVoice } from './reddit/routes.js';
import { rssVoice } from './rss/routes.js';
import { stackoverflowVoice } from './stackoverflow/routes.js';
import { tiktokVoice } from './tiktok/routes.js';
import { vintedVoice } from './vinted/routes.js';
import type { SourceVoice } from './voice.js';
import { xVoice } from './x/routes.js';
import { youtubeVoice } from './youtube/routes.js';

/** The sources of the simulator. */
export const SIMULATED: Readonly<Record<SourceId, SourceVoice>> = {
  hackernews: hackernewsVoice,
  reddit: redditVoice,
  bluesky: blueskyVoice,
  rss: rssVoice,
  x: xVoice,
  youtube: youtubeVoice,
  tiktok: tiktokVoice,
  mastodon: mastodonVoice,
  lemmy: lemmyVoice,
  github: githubVoice,
  producthunt: producthuntVoice,
  stackoverflow: stackoverflowVoice,
  vinted: vintedVoice,
  ai_answers: aiAnswersVoice,
};

/** The names of the simulated sources. */
export const SIMULATED_SOURCES = Object.keys(SIMULATED) as SourceId[];
