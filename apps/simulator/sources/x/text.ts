import { charactersFrom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { escapeMarkup } from '../shared/markup.js';
import { accountIdOf, stateOf } from './accounts.js';
import { alphanumericOf, linkEntity, shortLink } from './links.js';

const DIGITS = '0123456789';
/** If a text has more characters, `text` contains only its beginning, and `note_tweet` the complete text. */
const SHORT_LENGTH = 280;
const SHOWN_LENGTH = 250;
const LINK = String.raw`https?:\/\/[^\s)]+`;
const TOKEN = new RegExp(
  String.raw`${LINK}|(?<![\p{L}\p{N}_&])#[\p{L}\p{N}_]*\p{L}[\p{L}\p{N}_]*|(?<![\w@])@\w{1,15}\b|(?<!\S)\$[A-Z]{1,6}\b`,
  'gu',
);

/** The entities in a text. Offsets count code points of the escaped text. */
export interface Entities {
  urls?: Record<string, unknown>[];
  mentions?: { start: number; end: number; username: string; id: string }[];
  hashtags?: { start: number; end: number; tag: string }[];
  cashtags?: { start: number; end: number; tag: string }[];
}

/** A text as X sends it. */
export interface RenderedText {
  text: string;
  /** Absent if the text has no entities. */
  entities?: Entities;
}

/** A post's text: the short form, the complete text if it is long, and the visible range of the short form. */
export interface TweetText {
  short: RenderedText;
  long?: RenderedText;
  displayRange: [number, number];
}

/** A picture or a video of a post: the target of its link, if the link ends in `.jpg`, `.jpeg`, `.png` or `.mp4`. */
export interface Attachment {
  key: string;
  type: 'photo' | 'video';
}

/**
 * Returns the post's text in X's form: links shortened, markup escaped, the addressee of an answer at the beginning.
 */
export function tweetTextOf(post: SimPost): TweetText {
  const addressee = addresseeOf(post);
  const addressed =
    addressee !== undefined && !post.text.startsWith('@') ? `@${addressee} ${post.text}` : post.text;
  const attachment = attachmentOf(post);
  const below = attachment ? pictureLinkOf(post, attachment) : post.link;
  const whole = written(below === '' ? addressed : `${addressed} ${below}`.trim(), post);
  const isLong = [...addressed].length > SHORT_LENGTH;
  const short = isLong ? written(`${beginningOf(addressed)}… ${statusLinkOf(post)}`, post) : whole;
  const start = addressee === undefined ? 0 : (/^@\S+\s/.exec(addressed)?.[0].length ?? 0);
  const shown = attachment && !isLong ? lengthOf(short.text) - 24 : lengthOf(short.text);
  return {
    short,
    ...(isLong && { long: whole }),
    displayRange: [Math.min(start, shown), Math.max(shown, 0)],
  };
}

/**
 * Returns the addressee of an answer: the author of the answered post, or the name at the beginning of the text.
 * Returns undefined if the post is not an answer, or if the account with the name is missing.
 */
export function addresseeOf(post: SimPost): string | undefined {
  if (post.parent) return post.parent.author;
  const named = /^@(\w{1,15})\b/.exec(post.text)?.[1];
  return named !== undefined && stateOf(named) !== 'missing' ? named : undefined;
}

/** Returns the id of the first tweet whose address the post contains: the quoted tweet. */
export function quotedIdOf(post: SimPost): string | undefined {
  return /https:\/\/(?:x|twitter)\.com\/\w+\/status\/(\d{1,19})/.exec(`${post.text} ${post.link}`)?.[1];
}

/** Returns the attachment of the post. */
export function attachmentOf(post: SimPost): Attachment | undefined {
  if (/\.(jpe?g|png)$/i.test(post.link)) return { key: `3_${post.id}`, type: 'photo' };
  return /\.mp4$/i.test(post.link) ? { key: `7_${post.id}`, type: 'video' } : undefined;
}

/** Returns the addresses in a post's text, and the post's link. */
export function addressesOf(post: SimPost): string[] {
  return [...(post.text.match(new RegExp(LINK, 'g')) ?? []), ...(post.link ? [post.link] : [])];
}

/** Returns the number of code points. */
export function lengthOf(text: string): number {
  return [...text].length;
}

function written(raw: string, post: SimPost): RenderedText {
  const entities: Required<Entities> = { urls: [], mentions: [], hashtags: [], cashtags: [] };
  let text = '';
  let from = 0;
  for (const match of raw.matchAll(TOKEN)) {
    const [token] = match;
    text += escapeMarkup(raw.slice(from, match.index));
    const start = lengthOf(text);
    const shown = token.startsWith('http') ? shortLink(token) : token;
    const place = { start, end: start + lengthOf(shown) };
    text += shown;
    from = match.index + token.length;
    if (token.startsWith('http')) entities.urls.push({ ...place, ...urlOf(token, post) });
    else if (token.startsWith('#')) entities.hashtags.push({ ...place, tag: token.slice(1) });
    else if (token.startsWith('$')) entities.cashtags.push({ ...place, tag: token.slice(1) });
    else if (stateOf(token) !== 'missing')
      entities.mentions.push({ ...place, username: token.slice(1), id: accountIdOf(token.slice(1)) });
  }
  text += escapeMarkup(raw.slice(from));
  const found = Object.fromEntries(Object.entries(entities).filter(([, each]) => each.length > 0));
  return { text, ...(Object.keys(found).length > 0 && { entities: found }) };
}

/**
 * Returns the entity of an address in the text. If the address is the post's own link and the post quotes no tweet, the
 * entity also has the title and the pictures of the linked page.
 */
function urlOf(address: string, post: SimPost): Record<string, unknown> {
  const link = linkEntity(address);
  if (/\/(photo|video)\/1$/.test(address)) {
    const display_url = link.url.replace('https://t.co', 'pic.x.com');
    return { ...link, display_url, media_key: attachmentOf(post)?.key };
  }
  if (address !== post.link || quotedIdOf(post) !== undefined) return { ...link };
  const picture = `https://pbs.twimg.com/news_img/${charactersFrom(address, DIGITS, 19)}/${alphanumericOf(address, 8)}?format=jpg`;
  return {
    ...link,
    images: [
      { url: `${picture}&name=orig`, width: 1280, height: 720 },
      { url: `${picture}&name=150x150`, width: 150, height: 150 },
    ],
    status: 200,
    title: 'Read more',
    description: 'An article',
    unwound_url: address,
  };
}

function pictureLinkOf(post: SimPost, { type }: Attachment): string {
  return `https://x.com/${post.author}/status/${post.id}/${type}/1`;
}

function statusLinkOf(post: SimPost): string {
  return `https://x.com/i/web/status/${post.id}`;
}

/** Returns the first characters of a text, without a part of a word or of a link at the end. */
function beginningOf(text: string): string {
  const shown = [...text].slice(0, SHOWN_LENGTH).join('');
  return /^[\s\S]*\S(?=\s)/.exec(shown)?.[0] ?? shown;
}
