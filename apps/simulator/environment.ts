import { SOURCE_IDS } from '#contracts';
import { LLM_PATH, LLM_TOKEN } from './llm/routes.js';

/**
 * Returns settings with which Earshot uses the simulator at `url` in place of the real upstreams: addresses, and
 * credentials that the simulator accepts.
 */
export function simulatedSources(url: string): Record<string, string> {
  return {
    ...Object.fromEntries(SOURCE_IDS.map((id) => [`SOURCE_${id.toUpperCase()}_URL`, url])),
    SOURCE_X_TOKEN: 'sim-x',
    SOURCE_REDDIT_CLIENT_ID: 'sim-client',
    SOURCE_REDDIT_CLIENT_SECRET: 'sim-secret',
    SOURCE_YOUTUBE_TOKEN: 'sim-youtube',
    SOURCE_TIKTOK_CLIENT_ID: 'sim-client',
    SOURCE_TIKTOK_CLIENT_SECRET: 'sim-secret',
    SOURCE_BLUESKY_CLIENT_ID: 'earshot.bsky.example',
    SOURCE_BLUESKY_CLIENT_SECRET: 'sim-password',
    SOURCE_MASTODON_INSTANCE: 'social.example',
    SOURCE_MASTODON_TOKEN: 'sim-mastodon',
    SOURCE_LEMMY_INSTANCE: 'lemmy.example',
    SOURCE_GITHUB_TOKEN: 'sim-github',
    SOURCE_PRODUCTHUNT_TOKEN: 'sim-producthunt',
    AI_OPENAI_TOKEN: 'sim-openai',
    AI_ANTHROPIC_TOKEN: 'sim-anthropic',
    AI_PERPLEXITY_TOKEN: 'sim-perplexity',
    AI_GEMINI_TOKEN: 'sim-gemini',
    SOURCE_VINTED_ENABLED: 'true',
  };
}

/**
 * Returns settings with which Earshot uses the simulated language model. The demo does not use them, because it needs
 * no language model.
 */
export function simulatedLlm(url: string): Record<string, string> {
  return { LLM_URL: `${url}${LLM_PATH}`, LLM_MODEL: 'sim-chat', LLM_TOKEN };
}

/** Returns settings with which Earshot sends the messages of channels to the simulator. */
export function simulatedChannels({
  url,
  smtpUrl,
}: {
  url: string;
  smtpUrl: string;
}): Record<string, string> {
  return {
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Earshot <earshot@example.org>',
    CHANNEL_SLACK_URL: url,
    CHANNEL_DISCORD_URL: url,
    CHANNEL_TEAMS_URL: url,
    CHANNEL_TELEGRAM_URL: url,
  };
}
