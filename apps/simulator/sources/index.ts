import type { SourceId } from '#contracts';
import { aiAnswersVoice } from './ai-answers.js';
import { blueskyVoice } from './bluesky.js';
import { githubVoice } from './github.js';
import { hackernewsVoice } from './hackernews.js';
import { lemmyVoice } from './lemmy.js';
import { mastodonVoice } from './mastodon.js';
import { producthuntVoice } from './producthunt.js';
import { redditVoice } from './reddit.js';
import { rssVoice } from './rss.js';
import { stackoverflowVoice } from './stackoverflow.js';
import { tiktokVoice } from './tiktok.js';
import { vintedVoice } from './vinted.js';
import type { SourceVoice } from './voice.js';
import { xVoice } from './x.js';
import { youtubeVoice } from './youtube.js';

/** The sources that the simulator speaks. */
export const VOICES: Readonly<Record<SourceId, SourceVoice>> = {
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

/** Their names. */
export const SIMULATED_SOURCES = Object.keys(VOICES) as SourceId[];
