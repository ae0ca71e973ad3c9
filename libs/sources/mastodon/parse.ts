import { htmlToText } from '../shared/html-text.js';
import { buildItem } from '../shared/item.js';
import {
  countOf,
  isoOfText,
  listOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';
import { attachedOf, type Attached } from './attached.js';

/** One page of statuses, latest arrival first. */
export interface StatusPage {
  items: SourceItem[];
  warnings: string[];
  /** Number of statuses on the page, including those that could not be read. */
  count: number;
  /** When the instance received the oldest status, in epoch milliseconds; undefined without a status or a time. */
  oldestMs: number | undefined;
  /** When the instance received the newest status, in epoch milliseconds; undefined without a status or a time. */
  newestMs: number | undefined;
  /** The instance's id of the oldest status: `max_id` of the next page. */
  lastId: string | undefined;
}

// Limits of plausible times: before the first version of Mastodon, and in the distant future.
const FIRST_MS = Date.UTC(2016, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
const CLOCK_SKEW_MS = 300_000;
const SHOWN_TO_ALL = new Set(['public', 'unlisted']);

/** The instance that responded, and the time of the read. */
export interface ResponseOrigin {
  host: string;
  now: Date;
}

/**
 * Reads a timeline.
 * @throws UpstreamError `unknown_shape`
 */
export function parseTimeline(body: unknown, origin: ResponseOrigin): StatusPage {
  const statuses = listOf(body);
  if (!statuses) throw unknownShape('mastodon', 'a list of statuses');
  return pageOf(statuses, origin);
}

/**
 * Reads a response of `/api/v2/search`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseSearch(body: unknown, origin: ResponseOrigin): StatusPage {
  const statuses = listOf(recordOf(body)?.['statuses']);
  if (!statuses) throw unknownShape('mastodon', 'an object with a list "statuses"');
  return pageOf(statuses, origin);
}

function pageOf(statuses: readonly unknown[], origin: ResponseOrigin): StatusPage {
  const last = recordOf(statuses.at(-1));
  return {
    ...readEntries('mastodon', statuses, (entry) => readStatus(entry, origin)),
    count: statuses.length,
    oldestMs: arrivalOf(last),
    newestMs: arrivalOf(recordOf(statuses[0])),
    lastId: textOf(last?.['id']),
  };
}

/**
 * Returns when the instance received a status. This can be hours after the author's server set `created_at`. In
 * Mastodon, the id begins with this time in milliseconds (lib/mastodon/snowflake.rb). If the id does not begin with a
 * time (other software), `created_at` is used.
 */
function arrivalOf(status: JsonRecord | undefined): number | undefined {
  const id = textOf(status?.['id']) ?? '';
  if (/^\d{15,19}$/.test(id)) {
    const ms = Number(BigInt(id) >> 16n);
    if (ms > FIRST_MS && ms < LAST_MS) return ms;
  }
  const createdAt = isoOfText(status?.['created_at']);
  return createdAt === undefined ? undefined : Date.parse(createdAt);
}

function readStatus(entry: unknown, { host, now }: ResponseOrigin): Reading {
  const outer = recordOf(entry);
  // A boost has no content, so the boosted post is read instead.
  const status = recordOf(outer?.['reblog']) ?? outer;
  const uri = textOf(status?.['uri']);
  if (!status || uri === undefined) return { malformed: 'no uri' };
  // A post with only pictures has an empty content, but the content is present.
  if (typeof status['content'] !== 'string') return { malformed: 'no content' };
  const createdAt = isoOfText(status['created_at']);
  if (createdAt === undefined) return { malformed: 'no created_at' };
  // A signed-in search also finds private messages to and from the configured account.
  const visibility = textOf(status['visibility']) ?? 'public';
  if (!SHOWN_TO_ALL.has(visibility)) return { leftOut: 'not public' };
  const arrivedMs = Math.min(arrivalOf(status) ?? Infinity, now.getTime());
  const publishedAt = publishedOf(createdAt, new Date(arrivedMs).toISOString());
  return { item: itemOf({ status, host, uri, visibility, publishedAt }) };
}

// If the clock of the author's server is slightly fast, the time of arrival is used. If `created_at` is long after the
// arrival, the post gets no time.
function publishedOf(createdAt: string, arrivedAt: string): string | undefined {
  if (createdAt <= arrivedAt) return createdAt;
  return Date.parse(createdAt) - Date.parse(arrivedAt) <= CLOCK_SKEW_MS ? arrivedAt : undefined;
}

interface StatusParts {
  status: JsonRecord;
  host: string;
  uri: string;
  visibility: string;
  publishedAt: string | undefined;
}

function itemOf({ status, host, uri, visibility, publishedAt }: StatusParts): SourceItem {
  const account = authorOf(recordOf(status['account']), host);
  const { media, ...attached } = attachedOf(status);
  const [likes, replies, boosts, quotes] = [
    'favourites_count',
    'replies_count',
    'reblogs_count',
    'quotes_count',
  ].map((count) => countOf(status[count]));
  const shares = boosts === undefined && quotes === undefined ? undefined : (boosts ?? 0) + (quotes ?? 0);
  const inReplyToId = textOf(status['in_reply_to_id']);
  const kind = inReplyToId === undefined ? 'post' : 'reply';
  const text = htmlToText(textOf(status['content']) ?? '');
  const spoilerText = textOf(status['spoiler_text']);
  const lang = textOf(status['language']);
  const url = textOf(status['url']) ?? uri;
  const quoted = recordOf(recordOf(status['quote'])?.['quoted_status']);
  return buildItem('mastodon', {
    itemId: uri,
    eventType: 'mastodon_post.created',
    kind,
    url,
    text: wholeText(spoilerText, text, attached),
    author: account.handle,
    authorName: account.name,
    authorUrl: account.url,
    lang,
    publishedAt,
    engagement: { likes, replies, shares },
    media,
    body: {
      id: uri,
      instance: host,
      statusId: textOf(status['id']) ?? null,
      kind,
      authorName: account.name ?? null,
      authorUrl: account.url ?? null,
      authorFollowers: account.followers ?? null,
      bot: account.bot,
      text,
      spoilerText: spoilerText ?? null,
      sensitive: status['sensitive'] === true,
      visibility,
      lang: lang ?? null,
      createdAt: isoOfText(status['created_at']) ?? null,
      editedAt: isoOfText(status['edited_at']) ?? null,
      likes: likes ?? null,
      replies: replies ?? null,
      boosts: boosts ?? null,
      quotes: quotes ?? null,
      inReplyToId: inReplyToId ?? null,
      ...attached,
      quoted: textOf(quoted?.['uri']) ?? null,
    },
  });
}

/** Returns the complete text: the content warning, the text, the options of a poll. */
function wholeText(spoilerText: string | undefined, text: string, { poll }: Pick<Attached, 'poll'>): string {
  const options = (poll?.options ?? []).map(({ title }) => `* ${title}`).join('\n');
  return [spoilerText ?? '', text, options].filter((part) => part !== '').join('\n\n');
}

function authorOf(account: JsonRecord | undefined, host: string) {
  const acct = textOf(account?.['acct']);
  return {
    // The instance sends its own accounts without its host.
    handle: acct === undefined || acct.includes('@') ? acct : `${acct}@${host}`,
    name: textOf(account?.['display_name']),
    url: textOf(account?.['url']),
    followers: countOf(account?.['followers_count']),
    bot: account?.['bot'] === true,
  };
}
