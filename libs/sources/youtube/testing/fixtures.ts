import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: responses in the current format of the Data API, and a server with offsets as tokens.

/** The channel of every invented video. */
export const CHANNEL_ID = 'UClampsAndLights00000000';

/** Returns one entry of a search. Its title is escaped, and its description is shortened. */
export function searchResult(n: number, at: Date, snippet: Record<string, unknown> = {}) {
  return {
    kind: 'youtube#searchResult',
    etag: `etag-${n}`,
    id: { kind: 'youtube#video', videoId: videoId(n) },
    snippet: {
      publishedAt: seconds(at),
      channelId: CHANNEL_ID,
      title: `Lamp number ${n} &amp; Ada&#39;s light`,
      description: 'All about lamps ...',
      thumbnails: { default: { url: `https://i.ytimg.example/${n}/default.jpg` } },
      channelTitle: 'Lamps & Lights',
      liveBroadcastContent: 'none',
      publishTime: seconds(at),
      ...snippet,
    },
  };
}

/** Returns the video that `searchResult` returns for the same `n`, in the form of `videos.list`. */
export function videoResource(n: number, at: Date, more: Record<string, unknown> = {}) {
  return {
    kind: 'youtube#video',
    id: videoId(n),
    snippet: {
      publishedAt: seconds(at),
      channelId: CHANNEL_ID,
      title: `Lamp number ${n} & Ada's light`,
      description: 'All about lamps\n\nand all the lights there are.',
      thumbnails: {
        default: { url: `https://i.ytimg.example/${n}/default.jpg` },
        high: { url: `https://i.ytimg.example/${n}/high.jpg` },
      },
      channelTitle: 'Lamps & Lights',
      tags: ['lamp', 'light'],
      categoryId: '28',
      liveBroadcastContent: 'none',
      defaultLanguage: 'en',
      defaultAudioLanguage: 'en-GB',
    },
    contentDetails: { duration: 'PT1H2M3S', definition: 'hd' },
    statistics: { viewCount: '3000000001', likeCount: '40', favoriteCount: '0', commentCount: '5' },
    ...more,
  };
}

/** Returns a thread of comments. */
export function thread(n: number, at: Date, snippet: Record<string, unknown> = {}, replies = 0) {
  return {
    kind: 'youtube#commentThread',
    id: `Ug${n}`,
    snippet: {
      videoId: videoId(1),
      topLevelComment: {
        kind: 'youtube#comment',
        id: `Ug${n}`,
        snippet: {
          videoId: videoId(1),
          textDisplay: 'Nice <3',
          textOriginal: 'Nice <3',
          authorDisplayName: '@grace-h',
          authorChannelId: { value: 'UCgrace00000000000000000' },
          likeCount: 7,
          publishedAt: seconds(at),
          updatedAt: seconds(at),
          ...snippet,
        },
      },
      canReply: true,
      totalReplyCount: replies,
      isPublic: true,
    },
  };
}

/** Returns an error in Google's format. */
export function problem(code: number, reason: string, more: Record<string, unknown> = {}) {
  const message = 'The request cannot be completed, see <a href="/youtube/v3">this</a>.';
  return { error: { code, message, errors: [{ message, domain: 'youtube', reason }], ...more } };
}

/** Returns the id of invented video n. */
export function videoId(n: number): string {
  return `lamp${String(n).padStart(7, '0')}`;
}

/** Returns the answer to a search among these videos. */
export function serveVideos(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const query = request.at.searchParams;
  const found = posts.filter(({ at }) => seconds(at) >= (query.get('publishedAfter') ?? ''));
  const start = Number(query.get('pageToken')?.slice(1) ?? 0);
  const end = start + Number(query.get('maxResults') ?? 5);
  return {
    body: {
      kind: 'youtube#searchListResponse',
      regionCode: 'DE',
      ...(end < found.length && { nextPageToken: `C${end}` }),
      pageInfo: { totalResults: 1_000_000, resultsPerPage: 50 },
      items: found.slice(start, end).map(({ n, at }) => searchResult(n, at)),
    },
  };
}

/**
 * Returns the response to a request for details of videos that have all been deleted; undefined for every other
 * request.
 */
export function serveNoDetails(request: FakeRequest): FakeAnswer | undefined {
  if (!request.at.pathname.endsWith('/videos')) return undefined;
  return { body: { kind: 'youtube#videoListResponse', items: [] } };
}

function seconds(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
