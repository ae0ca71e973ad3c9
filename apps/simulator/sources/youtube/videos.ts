import { charactersFrom, seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { escapeAttribute } from '../shared/markup.js';

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Search results contain only this many characters of a description. */
const SHOWN_LENGTH = 155;
const SMALL_SIZES = [
  { name: 'default', file: 'default', width: 120, height: 90 },
  { name: 'medium', file: 'mqdefault', width: 320, height: 180 },
  { name: 'high', file: 'hqdefault', width: 480, height: 360 },
];
const ALL_SIZES = [
  ...SMALL_SIZES,
  { name: 'standard', file: 'sddefault', width: 640, height: 480 },
  { name: 'maxres', file: 'maxresdefault', width: 1280, height: 720 },
];

/** Returns a video in a search result: its description cut, its texts escaped for HTML. */
export function searchResultOf(post: SimPost): object {
  const publishedAt = isoSecondsOf(post.publishedAt);
  const description = descriptionOf(post).replace(/\s+/g, ' ');
  const isCut = description.length > SHOWN_LENGTH;
  return {
    kind: 'youtube#searchResult',
    etag: etagOf(`result ${post.id}`),
    id: { kind: 'youtube#video', videoId: post.id },
    snippet: {
      publishedAt,
      channelId: channelIdOf(post.author),
      title: escaped(post.title),
      description: escaped(isCut ? `${description.slice(0, SHOWN_LENGTH)} ...` : description),
      thumbnails: thumbnailsOf(post, SMALL_SIZES),
      channelTitle: escaped(post.authorName),
      liveBroadcastContent: 'none',
      publishTime: publishedAt,
    },
  };
}

/** Returns a video as `videos.list` returns it for these parts. */
export function videoOf(post: SimPost, parts: readonly string[], comments: number | undefined): object {
  const has = (part: string) => parts.includes(part);
  return {
    kind: 'youtube#video',
    etag: etagOf(`video ${post.id} ${post.score}`),
    id: post.id,
    ...(has('snippet') && { snippet: snippetOf(post) }),
    ...(has('contentDetails') && {
      contentDetails: {
        duration: isoDuration(durationOf(post)),
        dimension: '2d',
        definition: 'hd',
        caption: 'false',
        licensedContent: false,
        contentRating: {},
        projection: 'rectangular',
      },
    }),
    ...(has('statistics') && {
      statistics: {
        viewCount: String(post.score * 213),
        likeCount: String(post.score),
        favoriteCount: '0',
        // A video whose comments are disabled has no count.
        ...(comments !== undefined && { commentCount: String(comments) }),
      },
    }),
  };
}

/** Returns the length of a video in seconds. */
export function durationOf(post: SimPost): number {
  return 15 + wholeBelow(seededRandom('youtube duration', post.id), 2_400);
}

/** Returns the id of an author's channel. */
export function channelIdOf(author: string): string {
  return `UC${charactersFrom(`youtube channel ${author}`, BASE64URL, 22)}`;
}

/** Returns an etag in Google's format, derived from the text. */
export function etagOf(what: string): string {
  return charactersFrom(`youtube etag ${what}`, BASE64URL, 27);
}

/** Returns a time in YouTube's current format, without a fraction of the second. */
export function isoSecondsOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Returns characters of an id, derived from the text. */
export function idFrom(what: string, length: number): string {
  return charactersFrom(what, BASE64URL, length);
}

function snippetOf(post: SimPost): object {
  const tags = [...post.text.matchAll(/#([\p{L}\p{N}_]+)/gu)].map(([, tag]) => tag);
  const description = descriptionOf(post);
  return {
    publishedAt: isoSecondsOf(post.publishedAt),
    channelId: channelIdOf(post.author),
    title: post.title,
    description,
    thumbnails: thumbnailsOf(post, ALL_SIZES),
    channelTitle: post.authorName,
    ...(tags.length > 0 && { tags }),
    categoryId: '28',
    liveBroadcastContent: 'none',
    localized: { title: post.title, description },
    ...(post.lang && { defaultAudioLanguage: post.lang }),
  };
}

function descriptionOf(post: SimPost): string {
  return post.link ? `${post.text}\n\n${post.link}` : post.text;
}

function escaped(text: string): string {
  return escapeAttribute(text).replaceAll("'", '&#39;');
}

function thumbnailsOf({ id }: SimPost, sizes: typeof SMALL_SIZES): object {
  return Object.fromEntries(
    sizes.map(({ name, file, width, height }) => [
      name,
      { url: `https://i.ytimg.com/vi/${id}/${file}.jpg`, width, height },
    ]),
  );
}

function isoDuration(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return `PT${minutes > 0 ? `${minutes}M` : ''}${rest > 0 || minutes === 0 ? `${rest}S` : ''}`;
}
