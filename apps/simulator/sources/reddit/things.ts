import { charactersFrom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { paragraphsHtml } from '../shared/markup.js';

const SITE = 'https://www.reddit.com';
const IDS = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Keys that every post and comment has, and that the simulator does not use, with recorded values. */
const COMMON = {
  all_awardings: [],
  approved_at_utc: null,
  approved_by: null,
  archived: false,
  author_flair_background_color: null,
  author_flair_css_class: null,
  author_flair_richtext: [],
  author_flair_template_id: null,
  author_flair_text: null,
  author_flair_text_color: null,
  author_flair_type: 'text',
  author_is_blocked: false,
  author_patreon_flair: false,
  author_premium: false,
  awarders: [],
  banned_at_utc: null,
  banned_by: null,
  can_gild: false,
  can_mod_post: false,
  distinguished: null,
  downs: 0,
  edited: false,
  gilded: 0,
  gildings: {},
  likes: null,
  locked: false,
  mod_note: null,
  mod_reason_by: null,
  mod_reason_title: null,
  mod_reports: [],
  no_follow: true,
  num_reports: null,
  over_18: false,
  quarantine: false,
  removal_reason: null,
  report_reasons: null,
  saved: false,
  send_replies: true,
  stickied: false,
  subreddit_type: 'public',
  top_awarded_type: null,
  total_awards_received: 0,
  treatment_tags: [],
  user_reports: [],
};
const POST_ONLY = {
  allow_live_comments: false,
  category: null,
  clicked: false,
  content_categories: null,
  contest_mode: false,
  discussion_type: null,
  hidden: false,
  hide_score: false,
  is_created_from_ads_ui: false,
  is_crosspostable: true,
  is_meta: false,
  is_original_content: false,
  is_reddit_media_domain: false,
  is_robot_indexable: true,
  is_video: false,
  link_flair_background_color: '',
  link_flair_css_class: null,
  link_flair_richtext: [],
  link_flair_text: null,
  link_flair_text_color: 'dark',
  link_flair_type: 'text',
  media: null,
  media_embed: {},
  media_only: false,
  num_crossposts: 0,
  pinned: false,
  pwls: 6,
  removed_by: null,
  removed_by_category: null,
  secure_media: null,
  secure_media_embed: {},
  spoiler: false,
  suggested_sort: null,
  thumbnail_height: null,
  thumbnail_width: null,
  view_count: null,
  visited: false,
  wls: 6,
};
const COMMENT_ONLY = {
  associated_award: null,
  collapsed: false,
  collapsed_because_crowd_control: null,
  collapsed_reason: null,
  collapsed_reason_code: null,
  comment_type: null,
  controversiality: 0,
  is_submitter: false,
  score_hidden: false,
  unrepliable_reason: null,
};

/** Returns a post or comment as a listing contains it: `{kind: 't3' | 't1', data}`. */
export function thingOf(post: SimPost): { kind: string; data: Record<string, unknown> } {
  const created = Math.floor(post.publishedAt / 1000);
  const shared = {
    ...COMMON,
    author: post.author,
    author_fullname: `t2_${charactersFrom(post.author, IDS, 9)}`,
    created,
    created_utc: created,
    id: post.id.slice(3),
    name: post.id,
    permalink: permalinkOf(post),
    score: post.score,
    subreddit: post.community,
    subreddit_id: `t5_${charactersFrom(post.community, IDS, 5)}`,
    subreddit_name_prefixed: `r/${post.community}`,
    ups: post.score,
  };
  return post.kind === 'comment'
    ? { kind: 't1', data: { ...shared, ...commentOf(post) } }
    : { kind: 't3', data: { ...shared, ...postOf(post) } };
}

/** Returns a comment with its replies, as `/comments/{id}` returns it. */
export function threadOf(comment: SimPost, depth = 0): { kind: string; data: Record<string, unknown> } {
  const { kind, data } = thingOf(comment);
  const replies = comment.replies.map((reply) => threadOf(reply, depth + 1));
  return { kind, data: { ...data, depth, replies: replies.length === 0 ? '' : listing(replies, null) } };
}

/** Puts the children into a listing, the envelope of every list. */
export function listing(
  children: readonly unknown[],
  after: string | null,
  before: string | null = null,
): object {
  return {
    kind: 'Listing',
    data: { after, dist: children.length, modhash: null, geo_filter: '', children, before },
  };
}

function postOf(post: SimPost): object {
  const isSelf = post.link === '';
  return {
    ...POST_ONLY,
    domain: isSelf ? `self.${post.community}` : new URL(post.link).hostname,
    is_self: isSelf,
    num_comments: post.replies.length,
    selftext: post.text,
    selftext_html:
      post.text === ''
        ? null
        : `<!-- SC_OFF --><div class="md">${paragraphsHtml(post.text)}\n</div><!-- SC_ON -->`,
    subreddit_subscribers: 1_000 + post.community.length * 977,
    thumbnail: isSelf ? 'self' : 'default',
    title: post.title,
    upvote_ratio: 0.9,
    url: isSelf ? SITE + permalinkOf(post) : post.link,
  };
}

function commentOf(comment: SimPost): object {
  const root = comment.root ?? comment;
  return {
    ...COMMENT_ONLY,
    body: comment.text,
    body_html: `<div class="md">${paragraphsHtml(comment.text)}\n</div>`,
    link_author: root.author,
    link_id: root.id,
    link_permalink: SITE + permalinkOf(root),
    link_title: root.title,
    link_url: root.link || SITE + permalinkOf(root),
    num_comments: root.replies.length,
    parent_id: comment.parent?.id ?? root.id,
    replies: '',
  };
}

function permalinkOf(post: SimPost): string {
  const root = post.root ?? post;
  const slug =
    root.title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .slice(0, 50) || 'untitled';
  const below = post.kind === 'comment' ? `${post.id.slice(3)}/` : '';
  return `/r/${post.community}/comments/${root.id.slice(3)}/${slug}/${below}`;
}
