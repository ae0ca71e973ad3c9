import { charactersFrom, pick, seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';

/**
 * The name of the simulated instance. It does not depend on the host name in a request. All communities are on this
 * instance.
 */
export const HOME = 'lemmy.example';
const HOMES = [HOME, 'feddit.example', 'threads.example'] as const;
/** The languages of the instance, as `/api/v3/site` lists them. */
export const LANGUAGES = [
  { id: 0, code: 'und', name: 'Undetermined' },
  { id: 8, code: 'ar', name: 'العربية' },
  { id: 32, code: 'de', name: 'Deutsch' },
  { id: 37, code: 'en', name: 'English' },
  { id: 39, code: 'es', name: 'Español' },
  { id: 47, code: 'fr', name: 'Français' },
  { id: 79, code: 'ja', name: '日本語' },
] as const;
const FOUNDED = '2023-06-12T22:09:11.363420Z';

/** Returns the address of a post or comment on the server of its author. */
export function apIdOf(post: SimPost): string {
  return `https://${homeOf(post.author)}/${post.kind === 'comment' ? 'comment' : 'post'}/${post.id}`;
}

/** Returns the name of a community: `technology@lemmy.example` and `technology` are the same community. */
export function communityNameOf(text: string): string {
  return text.toLowerCase().replace(`@${HOME}`, '');
}

/** Returns a post as lists and searches return it. */
export function postView(post: SimPost): object {
  return {
    post: postOf(post),
    creator: personOf(post.author, post.authorName),
    community: communityOf(post.community),
    creator_banned_from_community: false,
    banned_from_community: false,
    creator_is_moderator: false,
    creator_is_admin: false,
    counts: {
      post_id: Number(post.id),
      comments: commentsBelow(post),
      ...votesOf(post),
      published: time(post.publishedAt),
      newest_comment_time: time(newestBelow(post)),
    },
    subscribed: 'NotSubscribed',
    saved: false,
    read: false,
    hidden: false,
    creator_blocked: false,
    unread_comments: commentsBelow(post),
  };
}

/** Returns a comment, with its post. */
export function commentView(comment: SimPost): object {
  const post = comment.root ?? comment;
  return {
    comment: {
      id: Number(comment.id),
      creator_id: idOf(`person ${comment.author}`),
      post_id: Number(post.id),
      content: comment.text,
      removed: false,
      published: time(comment.publishedAt),
      deleted: false,
      ap_id: apIdOf(comment),
      local: homeOf(comment.author) === HOME,
      path: pathOf(comment),
      distinguished: false,
      language_id: languageOf(comment),
    },
    creator: personOf(comment.author, comment.authorName),
    post: postOf(post),
    community: communityOf(post.community),
    counts: {
      comment_id: Number(comment.id),
      ...votesOf(comment),
      published: time(comment.publishedAt),
      child_count: commentsBelow(comment),
    },
    creator_banned_from_community: false,
    banned_from_community: false,
    creator_is_moderator: false,
    creator_is_admin: false,
    subscribed: 'NotSubscribed',
    saved: false,
    creator_blocked: false,
  };
}

/** Returns a community as a search returns it. */
export function communityView(name: string, posts: readonly SimPost[]): object {
  const own = posts.filter(({ community }) => community === name);
  const readers = 10 + wholeBelow(seededRandom('readers', name), 5_000);
  return {
    community: communityOf(name),
    subscribed: 'NotSubscribed',
    blocked: false,
    counts: {
      community_id: idOf(`community ${name}`),
      subscribers: readers,
      posts: own.filter(({ kind }) => kind !== 'comment').length,
      comments: own.filter(({ kind }) => kind === 'comment').length,
      published: FOUNDED,
      users_active_day: Math.ceil(readers / 50),
      users_active_week: Math.ceil(readers / 20),
      users_active_month: Math.ceil(readers / 10),
      users_active_half_year: Math.ceil(readers / 4),
      subscribers_local: Math.ceil(readers / 8),
    },
    banned_from_community: false,
  };
}

/** Returns the author of a post as a search returns people. */
export function personView({ author, authorName }: SimPost, posts: readonly SimPost[]): object {
  const own = posts.filter((post) => post.author === author);
  return {
    person: personOf(author, authorName),
    counts: {
      person_id: idOf(`person ${author}`),
      post_count: own.filter(({ kind }) => kind !== 'comment').length,
      comment_count: own.filter(({ kind }) => kind === 'comment').length,
    },
    is_admin: false,
  };
}

/** Returns the response of `/api/v3/site`. */
export function siteView(version: string): object {
  const actor = `https://${HOME}/`;
  return {
    site_view: {
      site: {
        id: 1,
        name: 'A simulated Lemmy',
        published: FOUNDED,
        actor_id: actor,
        last_refreshed_at: FOUNDED,
        inbox_url: `${actor}inbox`,
        instance_id: 1,
      },
    },
    admins: [],
    version,
    all_languages: LANGUAGES,
    discussion_languages: LANGUAGES.map(({ id }) => id),
    taglines: [],
    custom_emojis: [],
    blocked_urls: [],
  };
}

function postOf(post: SimPost): object {
  return {
    id: Number(post.id),
    name: post.title,
    ...(post.link && { url: post.link }),
    // Keys without a value are left out; nothing is null.
    ...(post.text && { body: post.text }),
    creator_id: idOf(`person ${post.author}`),
    community_id: idOf(`community ${post.community}`),
    removed: false,
    locked: false,
    published: time(post.publishedAt),
    deleted: false,
    nsfw: false,
    ap_id: apIdOf(post),
    local: homeOf(post.author) === HOME,
    language_id: languageOf(post),
    featured_community: false,
    featured_local: false,
    ...(post.link && { url_content_type: 'text/html' }),
  };
}

function personOf(handle: string, displayName: string): object {
  const [name = '', home = homeOf(handle)] = handle.split('@');
  const picture = (what: string) =>
    `https://${home}/pictrs/image/${charactersFrom(what + handle, '0123456789abcdef', 32)}.png`;
  return {
    id: idOf(`person ${handle}`),
    name,
    display_name: displayName.split('@')[0],
    avatar: picture('avatar'),
    banned: false,
    published: FOUNDED,
    actor_id: `https://${home}/u/${name}`,
    local: home === HOME,
    deleted: false,
    bot_account: false,
    instance_id: 1 + HOMES.indexOf(home as typeof HOME),
  };
}

function communityOf(name: string): object {
  return {
    id: idOf(`community ${name}`),
    name,
    title: name.charAt(0).toUpperCase() + name.slice(1),
    removed: false,
    published: FOUNDED,
    deleted: false,
    nsfw: false,
    actor_id: `https://${HOME}/c/${name}`,
    local: true,
    hidden: false,
    posting_restricted_to_mods: false,
    instance_id: 1,
    visibility: 'Public',
  };
}

/** Returns the server of a person: the part after the @, or an invented server. */
function homeOf(handle: string): string {
  return handle.split('@')[1] ?? pick(seededRandom('home', handle), HOMES);
}

function idOf(what: string): number {
  return 1_000 + wholeBelow(seededRandom(what), 2_000_000_000);
}

/** Returns the path of a comment: 0, the ids of the parent comments, and the id of the comment, joined by dots. */
function pathOf(comment: SimPost): string {
  const ids: string[] = [];
  for (let at: SimPost | undefined = comment; at?.kind === 'comment'; at = at.parent) ids.unshift(at.id);
  return ['0', ...ids].join('.');
}

function votesOf({ score }: SimPost): { score: number; upvotes: number; downvotes: number } {
  const downvotes = score % 3;
  return { score, upvotes: score + downvotes, downvotes };
}

function languageOf({ lang }: SimPost): number {
  return LANGUAGES.find(({ code }) => code === lang)?.id ?? 0;
}

function commentsBelow(post: SimPost): number {
  return post.replies.reduce((count, reply) => count + 1 + commentsBelow(reply), 0);
}

function newestBelow(post: SimPost): number {
  return post.replies.reduce((newest, reply) => Math.max(newest, newestBelow(reply)), post.publishedAt);
}

/** Returns a time with microseconds and a zone. */
function time(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}
