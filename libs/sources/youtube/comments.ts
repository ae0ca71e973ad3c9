import type { JsonObject } from '@bufbuild/protobuf';
import {
  isoOfText,
  listOf,
  numberOf,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
} from '../shared/shape.js';
import type { LookupAnswer, LookupContext } from '../source.js';
import { RefusedByYoutube, ask, type YoutubeSettings } from './ask.js';
import { nextPageOf } from './parse.js';

/** A comment on a video, in the form of Earshot's API. A field is null if YouTube does not send it. */
export type VideoComment = {
  id: string;
  videoId: string;
  text: string;
  authorDisplayName: string | null;
  /** Null if the author's account is deleted. */
  authorChannelId: string | null;
  publishedAt: string | null;
  likeCount: number | null;
  replyCount: number | null;
  /** The Data API does not send this field. */
  isHeartedByCreator: null;
};

const COMMENTS_PER_PAGE = 100;

/** Answers the lookup `videoComments` {videoId, cursor?}: the newest comments of a video, without their replies. */
export async function lookUpComments(
  question: JsonObject,
  context: LookupContext,
  settings: YoutubeSettings,
): Promise<LookupAnswer> {
  const videoId = textOf(question['videoId']) ?? '';
  const cursor = textOf(question['cursor']);
  const query = {
    part: 'snippet',
    videoId,
    textFormat: 'plainText',
    order: 'time',
    maxResults: String(COMMENTS_PER_PAGE),
    ...(cursor !== undefined && { pageToken: cursor }),
  };
  try {
    const answer = await ask(context, settings, { method: 'commentThreads', query });
    const comments = parseComments(answer, videoId);
    const nextCursor = nextPageOf(answer);
    const body = { comments, ...(nextCursor !== undefined && { nextCursor }) };
    return { kind: 'found', body, found: comments.length };
  } catch (error) {
    const message = error instanceof RefusedByYoutube ? refusalOf(error, videoId, cursor) : undefined;
    if (message === undefined) throw error;
    return { kind: 'refused', code: 'NOT_FOUND', message };
  }
}

/**
 * Reads a response of `commentThreads.list` for a video.
 * @throws UpstreamError `unknown_shape`
 */
export function parseComments(answer: JsonRecord, askedId: string): VideoComment[] {
  const threads = listOf(answer['items']);
  if (!threads) throw unknownShape('youtube', 'an object with a list "items"');
  return threads.map((entry) => {
    const thread = recordOf(recordOf(entry)?.['snippet']);
    const top = recordOf(thread?.['topLevelComment']);
    const id = textOf(top?.['id']);
    const snippet = recordOf(top?.['snippet']);
    const text = snippet?.['textOriginal'] ?? snippet?.['textDisplay'];
    if (!snippet || id === undefined || typeof text !== 'string') {
      throw unknownShape('youtube', 'comments with an id and a text');
    }
    return {
      id,
      videoId: textOf(thread?.['videoId']) ?? askedId,
      text: textOf(text) ?? '',
      authorDisplayName: textOf(snippet['authorDisplayName']) ?? null,
      authorChannelId: textOf(recordOf(snippet['authorChannelId'])?.['value']) ?? null,
      publishedAt: isoOfText(snippet['publishedAt']) ?? null,
      likeCount: numberOf(snippet['likeCount']) ?? null,
      replyCount: numberOf(thread?.['totalReplyCount']) ?? null,
      isHeartedByCreator: null,
    };
  });
}

/**
 * Returns the message if the error concerns this video or cursor; undefined for any other error.
 */
function refusalOf(
  { reason, statusCode }: RefusedByYoutube,
  videoId: string,
  cursor: string | undefined,
): string | undefined {
  if (reason === 'videoNotFound' || statusCode === 404) return `There is no video "${videoId}" on youtube`;
  if (reason === 'commentsDisabled') return 'Comments are turned off for this video';
  if (reason === 'forbidden') return 'The comments of this video are not public';
  if (reason !== 'invalidPageToken' || cursor === undefined) return undefined;
  return 'YouTube no longer accepts this cursor; begin again without a cursor';
}
