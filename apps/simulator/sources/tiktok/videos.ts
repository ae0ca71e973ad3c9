import { LosslessNumber } from 'lossless-json';
import { charactersFrom, seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';

const REGIONS: Record<string, string> = { de: 'DE', ja: 'JP', ar: 'EG', fr: 'FR', es: 'ES' };

/**
 * The fields of a video, by the names that a request uses in its parameter `fields`. `id` and `music_id` are JSON
 * numbers that are too large for an exact JavaScript number.
 */
const FIELDS: Record<string, (post: SimPost) => unknown> = {
  id: ({ id }) => new LosslessNumber(id),
  video_description: ({ text }) => text,
  create_time: ({ publishedAt }) => Math.floor(publishedAt / 1000),
  region_code: regionOf,
  share_count: ({ score }) => score % 7,
  view_count: ({ score }) => score * 91,
  like_count: ({ score }) => score,
  comment_count: ({ score }) => score % 11,
  music_id: (post) => new LosslessNumber(musicIdOf(post)),
  hashtag_names: hashtagsOf,
  username: ({ author }) => author,
  // `effect_ids` is absent for videos without effects, `voice_to_text` for videos without speech.
  effect_ids: ({ number }) => (number % 5 === 0 ? [String(number % 90_000)] : undefined),
  voice_to_text: ({ number, text }) => (number % 2 === 0 ? text.replace(/[#@]\S+/g, '').trim() : undefined),
  video_duration: durationOf,
};

/** The names that `fields` accepts. */
export const FIELD_NAMES = Object.keys(FIELDS);

/** Returns a video with the requested fields. */
export function videoOf(post: SimPost, fields: readonly string[]): Record<string, unknown> {
  const entries = fields.map((name) => [name, FIELDS[name]?.(post)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Returns the hashtags of the text, without #. */
export function hashtagsOf({ text }: SimPost): string[] {
  return [...text.matchAll(/#([\p{L}\p{N}_]+)/gu)].map(([, tag = '']) => tag);
}

/** Returns the region of the account's registration, derived from the language. */
export function regionOf({ lang }: SimPost): string {
  return REGIONS[lang] ?? 'US';
}

/** Returns the length of a video in seconds. */
export function durationOf({ id }: SimPost): number {
  return 5 + wholeBelow(seededRandom('tiktok duration', id), 175);
}

/** Returns the id of the sound of a video. */
export function musicIdOf({ id }: SimPost): string {
  return `7${charactersFrom(`tiktok music ${id}`, '0123456789', 18)}`;
}
