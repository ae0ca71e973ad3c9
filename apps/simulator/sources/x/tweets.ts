import { seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { accountIdOf } from './accounts.js';
import { alphanumericOf } from './links.js';
import { addresseeOf, attachmentOf, quotedIdOf, tweetTextOf } from './text.js';

const EDITABLE_MS = 30 * 60_000;

/** A tweet that another tweet answers or quotes. */
export interface Reference {
  type: 'replied_to' | 'quoted';
  id: string;
}

/** Returns the tweets that a post answers and quotes. */
export function referencesOf(post: SimPost): Reference[] {
  const quoted = quotedIdOf(post);
  return [
    ...(quoted === undefined ? [] : [{ type: 'quoted' as const, id: quoted }]),
    ...(post.parent ? [{ type: 'replied_to' as const, id: post.parent.id }] : []),
  ];
}

/**
 * Returns all fields of a tweet; `tweet.fields` selects the fields of the response. As in X, the response does not
 * name the client that wrote the tweet.
 */
export function tweetOf(post: SimPost): Record<string, unknown> {
  const { short, long, displayRange } = tweetTextOf(post);
  const references = referencesOf(post);
  const addressee = addresseeOf(post);
  const attachment = attachmentOf(post);
  return {
    id: post.id,
    text: short.text,
    edit_history_tweet_ids: [post.id],
    ...(attachment && { attachments: { media_keys: [attachment.key] } }),
    author_id: accountIdOf(post.author),
    conversation_id: (post.root ?? post).id,
    created_at: wholeSeconds(post.publishedAt),
    display_text_range: displayRange,
    edit_controls: {
      edits_remaining: 5,
      is_edit_eligible: addressee === undefined,
      editable_until: wholeSeconds(post.publishedAt + EDITABLE_MS),
    },
    ...(short.entities && { entities: short.entities }),
    ...(addressee !== undefined && { in_reply_to_user_id: accountIdOf(addressee) }),
    lang: post.lang || 'und',
    ...(long && { note_tweet: long }),
    possibly_sensitive: false,
    public_metrics: {
      retweet_count: post.score % 5,
      reply_count: post.replies.length,
      like_count: post.score,
      quote_count: post.score % 3,
      bookmark_count: post.score % 4,
      impression_count: post.score * 137,
    },
    ...(references.length > 0 && { referenced_tweets: references }),
    reply_settings: 'everyone',
  };
}

/** Returns the fields of the post's picture or video; undefined if the post has none. */
export function mediaOf(post: SimPost): Record<string, unknown> | undefined {
  const attachment = attachmentOf(post);
  if (!attachment) return undefined;
  const { key, type } = attachment;
  const name = alphanumericOf(key, 15);
  const size = { width: 1280, height: 720 };
  if (type === 'photo')
    return { media_key: key, type, url: `https://pbs.twimg.com/media/${name}.jpg`, ...size };
  const video = `https://video.twimg.com/ext_tw_video/${post.id}/pu`;
  return {
    media_key: key,
    type,
    duration_ms: 5_000 + wholeBelow(seededRandom('x video', key), 115_000),
    preview_image_url: `https://pbs.twimg.com/ext_tw_video_thumb/${post.id}/pu/img/${name}.jpg`,
    ...size,
    variants: [
      { bit_rate: 832_000, content_type: 'video/mp4', url: `${video}/vid/640x360/${name}.mp4` },
      { content_type: 'application/x-mpegURL', url: `${video}/pl/${name}.m3u8` },
      { bit_rate: 2_176_000, content_type: 'video/mp4', url: `${video}/vid/1280x720/${name}.mp4` },
    ],
  };
}

/** Returns a time in X's format: with milliseconds, which are always 0. */
function wholeSeconds(at: number): string {
  return new Date(Math.floor(at / 1000) * 1000).toISOString();
}
