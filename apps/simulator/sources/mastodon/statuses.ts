import { charactersFrom, pick, seededRandom, wholeBelow } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { escapeAttribute } from '../shared/markup.js';

/** The name of the simulated instance. It does not depend on the host name in a request. */
export const HOME = 'social.example';
const HOMES = [HOME, 'photos.example', 'tooting.example', 'kind.example'] as const;
const SHOWN_LENGTH = 30;
const HEX = '0123456789abcdef';

/** An account of the network: `name` on `host`. */
export interface Account {
  name: string;
  host: string;
}

/**
 * Returns the author's account. A handle with a host belongs to that host; other handles are on an invented instance.
 */
export function accountOf({ author }: SimPost): Account {
  const [handle = '', host] = author.split('@');
  const name = handle.replace(/[^\w.-]+/g, '_');
  return { name, host: host ?? pick(seededRandom('home', author), HOMES) };
}

/** Returns the address of a post, which is the same on all instances. */
export function uriOf(post: SimPost): string {
  return `${actorOf(accountOf(post))}/statuses/${post.id}`;
}

/** Returns the hashtags of the text in their original spelling, without duplicates. */
export function tagsOf(post: SimPost): string[] {
  const tags = partsOf(post).flatMap(({ tag }) => tag ?? []);
  return [...new Map(tags.map((tag) => [tag.toLowerCase(), tag])).values()];
}

/** Returns the text of the post. If it does not contain the link of the post, the link is added at its end. */
export function textOf({ text, link }: SimPost): string {
  return link === '' || text.includes(link) ? text : `${text}\n\n${link}`;
}

/** Returns the addresses in the text. */
export function linksOf(post: SimPost): string[] {
  return partsOf(post).flatMap(({ link }) => link ?? []);
}

/** Returns a status of a timeline or a search. For a signed-in user, it contains the user's own reactions. */
export function statusOf(post: SimPost, signedIn: boolean): Record<string, unknown> {
  const account = accountOf(post);
  const isLocal = account.host === HOME;
  const parts = partsOf(post);
  return {
    id: post.id,
    created_at: new Date(post.publishedAt).toISOString(),
    in_reply_to_id: post.parent?.id ?? null,
    in_reply_to_account_id: post.parent ? idOf(accountOf(post.parent)) : null,
    sensitive: false,
    spoiler_text: '',
    visibility: 'public',
    language: post.lang || null,
    uri: uriOf(post),
    url: `https://${account.host}/@${account.name}/${post.id}`,
    replies_count: post.replies.length,
    reblogs_count: post.score % 7,
    favourites_count: post.score,
    quotes_count: post.score % 2,
    edited_at: null,
    ...(signedIn && { favourited: false, reblogged: false, muted: false, bookmarked: false }),
    content: contentOf(parts, account),
    ...(signedIn && { filtered: [] }),
    reblog: null,
    ...(isLocal && { application: { name: 'Web', website: null } }),
    account: accountView(account, post),
    media_attachments: [],
    mentions: parts.flatMap(({ mention }) => (mention ? mentionOf(mention) : [])),
    tags: tagsOf(post).map((name) => ({
      name: name.toLowerCase(),
      url: `https://${HOME}/tags/${encodeURIComponent(name.toLowerCase())}`,
    })),
    emojis: [],
    tagged_collections: [],
    quote: null,
    card: cardOf(linksOf(post)[0]),
    poll: null,
    quote_approval: { automatic: ['public'], manual: [], current_user: signedIn ? 'automatic' : 'denied' },
  };
}

function accountView(account: Account, post: SimPost): object {
  const isLocal = account.host === HOME;
  const random = seededRandom('account', account.name, account.host);
  const files = `https://files.${HOME}/${isLocal ? '' : 'cache/'}accounts`;
  const picture = (what: string) =>
    `${files}/${what}s/${charactersFrom(`${what} ${account.name}`, HEX, 16)}/original/${charactersFrom(account.name + what, HEX, 16)}.png`;
  const [avatar, header] = [picture('avatar'), picture('header')];
  return {
    id: idOf(account),
    username: account.name,
    acct: isLocal ? account.name : `${account.name}@${account.host}`,
    display_name: post.authorName.split('@')[0],
    locked: false,
    bot: false,
    discoverable: true,
    indexable: isSearchable(post),
    group: false,
    created_at: '2022-11-05T00:00:00.000Z',
    note: '',
    url: `https://${account.host}/@${account.name}`,
    uri: actorOf(account),
    avatar,
    avatar_static: avatar,
    avatar_description: '',
    header,
    header_static: header,
    header_description: '',
    followers_count: wholeBelow(random, 3_000),
    following_count: wholeBelow(random, 500),
    statuses_count: 1 + wholeBelow(random, 9_000),
    last_status_at: new Date(post.publishedAt).toISOString().slice(0, 10),
    hide_collections: false,
    show_media: true,
    show_media_replies: true,
    show_featured: true,
    ...(isLocal && { noindex: false }),
    emojis: [],
    ...(isLocal && { roles: [] }),
    fields: [],
  };
}

/**
 * Returns true if the author allows the full-text search to find the post. Accounts with `hidden` in their name do not
 * allow it.
 */
export function isSearchable({ author }: SimPost): boolean {
  return !author.toLowerCase().includes('hidden');
}

function actorOf({ name, host }: Account): string {
  return `https://${host}/users/${name}`;
}

function idOf({ name, host }: Account): string {
  return `1${charactersFrom(`${name}@${host}`, '0123456789', 17)}`;
}

function mentionOf(account: Account): object {
  return {
    id: idOf(account),
    username: account.name,
    url: `https://${account.host}/@${account.name}`,
    acct: account.host === HOME ? account.name : `${account.name}@${account.host}`,
  };
}

function cardOf(url: string | undefined): object | null {
  if (url === undefined || !URL.canParse(url)) return null;
  return {
    url,
    title: 'Read more',
    description: 'An article',
    language: 'en',
    type: 'link',
    author_name: '',
    author_url: '',
    provider_name: '',
    provider_url: '',
    html: '',
    width: 0,
    height: 0,
    image: null,
    image_description: '',
    embed_url: '',
    blurhash: null,
    published_at: null,
    authors: [],
  };
}

interface TextPart {
  plain: string;
  link?: string;
  tag?: string;
  mention?: Account;
}

const known = new WeakMap<SimPost, { text: string; parts: TextPart[] }>();

/**
 * Returns the parts of a post's text. They are computed once for each text, because timelines by hashtag read them for
 * every post.
 */
function partsOf(post: SimPost): TextPart[] {
  const text = textOf(post);
  let kept = known.get(post);
  if (kept?.text !== text) known.set(post, (kept = { text, parts: splitText(text) }));
  return kept.parts;
}

function splitText(text: string): TextPart[] {
  return text
    .split(/(https?:\/\/[^\s)]+|(?<=^|\s)#[\p{L}\p{N}_]*[\p{L}_][\p{L}\p{N}_]*|(?<=^|\s)@\w+@[\w.-]+\w)/u)
    .map((plain, i) => {
      if (i % 2 === 0) return { plain };
      if (plain.startsWith('#')) return { plain, tag: plain.slice(1) };
      const [, name, host] = /^@(\w+)@(.+)$/.exec(plain) ?? [];
      return name && host ? { plain, mention: { name, host } } : { plain, link: plain };
    });
}

/**
 * Returns the HTML that instances build from plain text. The home instance adds `rel` and `target` to the links of
 * other instances when it sanitises their HTML.
 */
function contentOf(parts: readonly TextPart[], account: Account): string {
  const away = account.host === HOME ? '' : ' rel="nofollow noopener" target="_blank"';
  const html = parts
    .map(({ plain, link, tag, mention }) => {
      if (link) return linkHtml(link);
      if (tag) {
        const rel = away || ' rel="tag"';
        const url = `https://${account.host}/tags/${encodeURIComponent(tag)}`;
        return `<a href="${url}" class="mention hashtag"${rel}>#<span>${tag}</span></a>`;
      }
      if (mention) {
        const url = `https://${mention.host}/@${mention.name}`;
        return `<span class="h-card" translate="no"><a href="${url}" class="u-url mention"${away}>@<span>${mention.name}</span></a></span>`;
      }
      return escaped(plain);
    })
    .join('');
  return html
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>')}</p>`)
    .join('');
}

/** Returns a link as HTML. It contains the whole address. The parts that browsers hide have the class `invisible`. */
function linkHtml(url: string): string {
  const prefix = /^https?:\/\/(?:www\.)?/.exec(url)?.[0] ?? '';
  const rest = url.slice(prefix.length);
  const [shown, hidden] = [rest.slice(0, SHOWN_LENGTH), rest.slice(SHOWN_LENGTH)];
  const kind = hidden === '' ? '' : 'ellipsis';
  return `<a href="${escaped(url)}" rel="nofollow noopener" translate="no" target="_blank"><span class="invisible">${prefix}</span><span class="${kind}">${escaped(shown)}</span><span class="invisible">${escaped(hidden)}</span></a>`;
}

function escaped(text: string): string {
  return escapeAttribute(text).replaceAll("'", '&#39;');
}
