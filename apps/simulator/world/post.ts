import type { SourceId } from '#contracts';

/** What a published thing is, in the words of its source. */
export const POST_KINDS = [
  'story',
  'comment',
  'post',
  'article',
  'video',
  'question',
  'answer',
  'issue',
  'pull_request',
  'discussion',
  'repository',
  'listing',
] as const;
export type PostKind = (typeof POST_KINDS)[number];

/** One published thing of the world; the wire formats are made from it. */
export interface SimPost {
  source: SourceId;
  /** Counts up within the source, in order of arrival. */
  number: number;
  /** As the source names it: `8863`, `t3_…`, `t1_…`, `at://…`, a feed's guid; see `TRAITS`. */
  id: string;
  kind: PostKind;
  title: string;
  /** Plain text; paragraphs apart by an empty line. */
  text: string;
  author: string;
  authorName: string;
  /** Subreddit, feed, repository, market or engine; empty elsewhere. */
  community: string;
  /** BCP 47; empty where unknown. */
  lang: string;
  /** Where the post points to; empty for a post of text alone. */
  link: string;
  /** Epoch milliseconds. */
  publishedAt: number;
  score: number;
  /** In whole cents of `currency`; 0 where posts have no price. */
  priceCents: number;
  currency: string;
  /** Somebody pays for it to be shown out of order. */
  promoted: boolean;
  /** What a comment or reply answers, and the post at the root of its thread. */
  parent?: SimPost;
  root?: SimPost;
  /** Direct answers, oldest first. */
  replies: SimPost[];
}
