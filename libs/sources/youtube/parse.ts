import { unescaped } from '../shared/escaped-text.js';
import { buildItem } from '../shared/item.js';
import {
  isoOfText,
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

/** One page of a search. */
export interface SearchAnswer {
  items: SourceItem[];
  warnings: string[];
}

/** The videos of a page by id, from `videos.list`. Videos that are already known, deleted or private are missing. */
export type Details = ReadonlyMap<string, JsonRecord>;

/**
 * Returns the ids of a page's videos.
 * @throws UpstreamError `unknown_shape` if `answer` is not a page of a search
 */
export function videoIdsOf(answer: JsonRecord): string[] {
  return entriesOf(answer).flatMap((entry) => videoIdOf(recordOf(entry)) ?? []);
}

/** Returns the token of the next page; undefined on the last page. */
export function nextPageOf(answer: JsonRecord): string | undefined {
  return textOf(answer['nextPageToken']);
}

/**
 * Reads a response of `videos.list`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseVideos(answer: JsonRecord): Details {
  const videos = entriesOf(answer).map((entry) => {
    const video = recordOf(entry);
    const id = textOf(video?.['id']);
    if (!video || id === undefined) throw unknownShape('youtube', 'videos with an id');
    return [id, video] as const;
  });
  return new Map(videos);
}

/**
 * Reads a response of `search.list`. `details` from `videos.list` are needed because a search shortens descriptions and
 * has no counts.
 * @throws UpstreamError `unknown_shape`
 */
export function parseSearchAnswer(answer: JsonRecord, details: Details): SearchAnswer {
  return readEntries('youtube', entriesOf(answer), (entry) => readVideo(entry, details));
}

function entriesOf(answer: JsonRecord): readonly unknown[] {
  const entries = listOf(answer['items']);
  if (!entries) throw unknownShape('youtube', 'an object with a list "items"');
  return entries;
}

// In a response of `search.list`, the id is an object.
function videoIdOf(result: JsonRecord | undefined): string | undefined {
  return textOf(recordOf(result?.['id'])?.['videoId']);
}

function readVideo(entry: unknown, details: Details): Reading {
  const result = recordOf(entry);
  const id = videoIdOf(result);
  if (!result || id === undefined) return { malformed: 'no id of a video' };
  const found = recordOf(result['snippet']);
  const detail = details.get(id);
  const whole = recordOf(detail?.['snippet']);
  // Titles from `search.list` are escaped for HTML; titles from `videos.list` are not.
  const escaped = textOf(found?.['title']);
  const title = textOf(whole?.['title']) ?? (escaped === undefined ? undefined : unescaped(escaped));
  if (!found || title === undefined) return { malformed: 'no snippet with a title' };
  return { item: itemOf(id, title, { ...found, ...whole }, detail ?? {}) };
}

function itemOf(id: string, title: string, snippet: JsonRecord, detail: JsonRecord): SourceItem {
  const url = `https://www.youtube.com/watch?v=${id}`;
  const channel = textOf(snippet['channelTitle']);
  const channelId = textOf(snippet['channelId']);
  const channelUrl = channelId === undefined ? undefined : `https://www.youtube.com/channel/${channelId}`;
  const description = textOf(snippet['description']) ?? '';
  const publishedAt = isoOfText(snippet['publishedAt']);
  const lang = textOf(snippet['defaultAudioLanguage']) ?? textOf(snippet['defaultLanguage']);
  const thumbnailUrl = thumbnailOf(snippet);
  const [views, likes, comments] = countsOf(detail);
  return buildItem('youtube', {
    itemId: id,
    eventType: 'video.created',
    kind: 'video',
    url,
    title,
    text: description,
    author: channel?.replace(/^@/, ''),
    authorName: channel,
    authorUrl: channelUrl,
    lang,
    publishedAt,
    engagement: { views, likes, replies: comments },
    media: [
      { url, type: 'video' },
      ...(thumbnailUrl === undefined ? [] : [{ url: thumbnailUrl, type: 'image' as const }]),
    ],
    body: {
      id,
      kind: 'video',
      title,
      description,
      channelId: channelId ?? null,
      channelTitle: channel ?? null,
      channelUrl: channelUrl ?? null,
      thumbnailUrl: thumbnailUrl ?? null,
      durationSeconds: durationOf(detail),
      // The value is `none`, `live` or `upcoming`.
      liveBroadcast: textOf(snippet['liveBroadcastContent']) ?? null,
      lang: lang ?? null,
      tags: (listOf(snippet['tags']) ?? []).flatMap((tag) => textOf(tag) ?? []),
      categoryId: textOf(snippet['categoryId']) ?? null,
      views: views ?? null,
      likes: likes ?? null,
      comments: comments ?? null,
    },
  });
}

// Counts are strings. A count that the owner hides is missing.
function countsOf(detail: JsonRecord): (number | undefined)[] {
  const statistics = recordOf(detail['statistics']);
  return ['viewCount', 'likeCount', 'commentCount'].map((name) => {
    const count = statistics?.[name];
    return typeof count === 'string' && /^\d{1,15}$/.test(count) ? Number(count) : numberOf(count);
  });
}

/**
 * Returns the seconds of a duration such as `PT1H2M3S`. Null for a broadcast that has not ended (`P0D`), and for a
 * missing or unknown duration.
 */
function durationOf(detail: JsonRecord): number | null {
  const text = textOf(recordOf(detail['contentDetails'])?.['duration']) ?? '';
  const parts = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text);
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = (parts ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0));
  return days * 86_400 + hours * 3_600 + minutes * 60 + seconds || null;
}

function thumbnailOf(snippet: JsonRecord): string | undefined {
  const thumbnails = recordOf(snippet['thumbnails']);
  for (const size of ['maxres', 'standard', 'high', 'medium', 'default']) {
    const url = textOf(recordOf(thumbnails?.[size])?.['url']);
    if (url !== undefined) return url;
  }
  return undefined;
}
