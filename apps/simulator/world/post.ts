import type { SourceId } from '#contracts';

/** The kinds of posts, in the words of their sources. */
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
/** A kind of post. */
export type PostKind = (typeof POST_KINDS)[number];

/** One published post of the world, from which the wire formats are built. */
export interface SimPost {
  source: SourceId;
  /** Increases within the source, in order of arrival. */
  number: number;
  /** In the format of the source: `8863`, `t3_…`, `t1_…`, `at://…`, a feed's guid; see `TRAITS`. */
  id: string;
  kind: PostKind;
  title: string;
  /** Plain text; an empty line separates paragraphs. */
  text: string;
  author: string;
  authorName: string;
  /** For example a subreddit, a feed, a repository, a market or an engine; empty if the post has none. */
  community: string;
  /** BCP 47; empty if unknown. */
  lang: string;
  /** The address to which the post links; empty for a post with text only. */
  link: string;
  /** Epoch milliseconds. */
  publishedAt: number;
  score: number;
  /** In whole cents of `currency`; 0 if the source has no prices. */
  priceCents: number;
  currency: string;
  /** True for a promoted post, which is shown out of order. */
  promoted: boolean;
  /** `parent`: the post that a comment or reply answers. `root`: the first post of its thread. */
  parent?: SimPost;
  root?: SimPost;
  /** Direct answers, in order of arrival. */
  replies: SimPost[];
}
