import { buildItem } from '../shared/item.js';
import {
  isoOfSeconds,
  listOf,
  numberOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';

/** One page of videos. */
export interface VideosAnswer {
  items: SourceItem[];
  warnings: string[];
  /** The position of the next page; absent on the last page. An empty page can be followed by other pages. */
  next: { cursor: number; searchId: string | undefined } | undefined;
}

/**
 * Reads the `data` of a response of `/v2/research/video/query/`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseVideos(data: JsonRecord): VideosAnswer {
  const videos = listOf(data['videos']);
  if (!videos || typeof data['has_more'] !== 'boolean') {
    throw unknownShape('tiktok', 'a list "videos" and a boolean "has_more"');
  }
  const cursor = numberOf(data['cursor']);
  if (data['has_more'] && cursor === undefined) throw unknownShape('tiktok', 'a "cursor" of the next page');
  return {
    ...readEntries('tiktok', videos, readVideo),
    next:
      data['has_more'] && cursor !== undefined
        ? { cursor, searchId: digitsOf(data['search_id']) }
        : undefined,
  };
}

function readVideo(entry: unknown): Reading {
  const video = recordOf(entry);
  // The documentation says video_id, but responses have id.
  const id = digitsOf(video?.['id']) ?? digitsOf(video?.['video_id']);
  if (!video || id === undefined) return { malformed: 'no id' };
  const publishedAt = isoOfSeconds(video['create_time']);
  if (publishedAt === undefined) return { malformed: 'no create_time' };
  const description = video['video_description'];
  if (typeof description !== 'string' && description !== undefined)
    return { malformed: 'video_description is not a text' };
  return { item: itemOf(video, id, publishedAt) };
}

function itemOf(video: JsonRecord, id: string, publishedAt: string): SourceItem {
  // Some user names are padded with U+0000, which `textOf` removes.
  const username = textOf(video['username'])?.replace(/^@/, '');
  const description = textOf(video['video_description'])?.trim() ?? '';
  const count = (name: string) => numberOf(video[`${name}_count`]);
  const profile = `https://www.tiktok.com/@${encodeURIComponent(username ?? '')}`;
  const url = `${profile}/video/${id}`;
  const [likes, comments, shares, views] = ['like', 'comment', 'share', 'view'].map(count);
  return buildItem('tiktok', {
    itemId: id,
    eventType: 'tiktok_video.created',
    kind: 'video',
    url,
    text: description,
    author: username,
    authorUrl: username === undefined ? undefined : profile,
    publishedAt,
    engagement: { likes, replies: comments, shares, views },
    media: [{ url, type: 'video' }],
    body: {
      id,
      kind: 'video',
      description,
      voiceToText: textOf(video['voice_to_text']) ?? null,
      hashtags: (listOf(video['hashtag_names']) ?? []).flatMap((tag) => textOf(tag) ?? []),
      musicId: digitsOf(video['music_id']) ?? null,
      effectIds: (listOf(video['effect_ids']) ?? []).flatMap((effect) => digitsOf(effect) ?? []),
      regionCode: textOf(video['region_code']) ?? null,
      durationSeconds: numberOf(video['video_duration']) ?? null,
      likes: likes ?? null,
      comments: comments ?? null,
      shares: shares ?? null,
      views: views ?? null,
    },
  });
}

// Ids are numbers in the response. The JSON parser has converted ids that are too large for a JavaScript number to
// texts.
function digitsOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value);
  return text !== undefined && /^\d{1,24}$/.test(text) ? text : undefined;
}
