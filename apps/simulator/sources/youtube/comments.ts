import { compose, personFrom } from '../../world/phrases.js';
import { seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { escapeMarkup } from '../shared/markup.js';
import { channelIdOf, etagOf, idFrom, isoSecondsOf } from './videos.js';

const EVERY_MS = 5 * 60_000;

/** A comment under a video. */
export interface Comment {
  id: string;
  videoId: string;
  handle: string;
  text: string;
  publishedAt: number;
  likes: number;
  replies: Comment[];
}

/** Returns true if the comments are disabled: the title of the video contains “comments off”. */
export function commentsAreOff({ title }: SimPost): boolean {
  return title.toLowerCase().includes('comments off');
}

/**
 * Returns the comments on a video up to now, oldest first. The video gets one comment every five minutes after its
 * publication, until it has 110 to 229 comments.
 */
export function commentsOf(post: SimPost, now: number): Comment[] {
  const max = 110 + wholeBelow(seededRandom('youtube comments', post.id), 120);
  const due = Math.floor((now - post.publishedAt) / EVERY_MS);
  return Array.from({ length: Math.max(0, Math.min(max, due)) }, (_, n) => {
    const random = seededRandom('youtube comment', post.id, n);
    const publishedAt = post.publishedAt + (n + 1) * EVERY_MS;
    const id = `Ug${idFrom(`comment ${post.id} ${n}`, 17)}4AaABAg`;
    const write = (ownId: string, at: number): Comment => ({
      id: ownId,
      videoId: post.id,
      handle: personFrom(random).handle,
      text: compose(random).text,
      publishedAt: at,
      likes: wholeBelow(random, 20),
      replies: [],
    });
    const comment = write(id, publishedAt);
    const replies = Array.from({ length: wholeBelow(random, 3) }, (__, reply) =>
      write(`${id}.${idFrom(`reply ${id} ${reply}`, 22)}`, publishedAt + (reply + 1) * 60_000),
    );
    return { ...comment, replies: replies.filter((reply) => reply.publishedAt <= now) };
  });
}

/** Returns a comment with its replies, as `commentThreads.list` returns them for these parts. */
export function threadOf(
  comment: Comment,
  post: SimPost,
  parts: readonly string[],
  isPlain: boolean,
): object {
  const { replies } = comment;
  return {
    kind: 'youtube#commentThread',
    etag: etagOf(`thread ${comment.id}`),
    id: comment.id,
    ...(parts.includes('snippet') && {
      snippet: {
        channelId: channelIdOf(post.author),
        videoId: comment.videoId,
        topLevelComment: commentOf(comment, post, isPlain),
        canReply: true,
        totalReplyCount: replies.length,
        isPublic: true,
      },
    }),
    ...(parts.includes('replies') &&
      replies.length > 0 && {
        replies: { comments: replies.map((reply) => commentOf(reply, post, isPlain, comment.id)) },
      }),
  };
}

function commentOf(comment: Comment, post: SimPost, isPlain: boolean, parentId?: string): object {
  const { id, videoId, handle, text, publishedAt, likes } = comment;
  const authorChannelId = channelIdOf(handle);
  return {
    kind: 'youtube#comment',
    etag: etagOf(`comment ${id}`),
    id,
    snippet: {
      channelId: channelIdOf(post.author),
      videoId,
      textDisplay: isPlain ? text : htmlOf(text),
      textOriginal: text,
      ...(parentId !== undefined && { parentId }),
      authorDisplayName: `@${handle}`,
      authorProfileImageUrl: `https://yt3.ggpht.com/${idFrom(handle, 40)}=s48-c-k-c0x00ffffff-no-rj`,
      authorChannelUrl: `http://www.youtube.com/@${handle}`,
      authorChannelId: { value: authorChannelId },
      canRate: true,
      viewerRating: 'none',
      likeCount: likes,
      publishedAt: isoSecondsOf(publishedAt),
      updatedAt: isoSecondsOf(publishedAt),
    },
  };
}

function htmlOf(text: string): string {
  return text
    .split(/(https?:\/\/\S+)/)
    .map((part, n) => {
      const escaped = escapeMarkup(part).replaceAll('"', '&quot;').replaceAll("'", '&#39;');
      return n % 2 === 0 ? escaped.replaceAll('\n', '<br>') : `<a href="${escaped}">${escaped}</a>`;
    })
    .join('');
}
