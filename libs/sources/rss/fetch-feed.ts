import type { LRUCache } from 'lru-cache';
import { displayUrl } from '#http-out';
import { sessionCache } from '../session-cache.js';
import { recordOf, textOf } from '../shape.js';
import { UpstreamError, type FetchContext, type UpstreamErrorKind } from '../source.js';
import { parseFeedAnswer, type FeedAnswer } from './parse.js';

/** What is remembered of one feed from check to check. */
interface FeedMemory {
  etag?: string;
  lastModified?: string;
  /** It has moved here for good (301, 308). */
  movedTo?: string;
  /** When it answered 410: it is not asked for a day. */
  gone?: string;
}

const ACCEPT =
  'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5';
// Some servers answer 410 by mistake, and addresses come back.
const GONE_MS = 24 * 3_600_000;
const GONE_KEPT = 5_000;
// With these a new address was a mistake, or is past: the old one is asked again.
const MOVED_IN_VAIN: ReadonlySet<UpstreamErrorKind> = new Set([
  'not_found',
  'gone',
  'network',
  'blocked',
  'not_parsable',
]);

/**
 * Reads one feed: only what has changed since the last check, from where it has moved to. Throws `UpstreamError`
 * that names the feed.
 */
export async function fetchFeed(feedUrl: string, context: FetchContext): Promise<FeedAnswer> {
  const memory = memoryOf(feedUrl, context);
  try {
    if (memory.gone)
      throw new UpstreamError('gone', 'it answered 410 and is asked again a day after that', 410);
    const { answer, remembered } = await fetchMoved(feedUrl, memory, context);
    remember(feedUrl, context, remembered);
    return answer;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // No validators: watches that have begun since want the whole feed, not "nothing new" since before them.
    if (error.kind !== 'gone') remember(feedUrl, context, movedOnly(memory));
    else if (!memory.gone) remember(feedUrl, context, { gone: context.now.toISOString() });
    const reason = `${displayUrl(feedUrl)}: ${error.message}`;
    throw new UpstreamError(error.kind, reason, error.statusCode, error.retryAfterMs);
  }
}

interface Fetch {
  answer: FeedAnswer;
  remembered: FeedMemory;
}

async function fetchMoved(feedUrl: string, memory: FeedMemory, context: FetchContext): Promise<Fetch> {
  const { movedTo } = memory;
  if (movedTo === undefined) return fetchShared(feedUrl, feedUrl, memory, context);
  try {
    return await fetchShared(feedUrl, movedTo, memory, context);
  } catch (error) {
    if (!(error instanceof UpstreamError) || !MOVED_IN_VAIN.has(error.kind)) throw error;
    return fetchShared(feedUrl, feedUrl, {}, context);
  }
}

// Whoever has seen the same version of the same feed gets the same answer: it is asked for once.
function fetchShared(
  feedUrl: string,
  address: string,
  memory: FeedMemory,
  context: FetchContext,
): Promise<Fetch> {
  const key = JSON.stringify(['rss', feedUrl, address, memory.etag, memory.lastModified]);
  return context.shared(key, () => fetchAt(feedUrl, address, memory, context));
}

async function fetchAt(
  feedUrl: string,
  address: string,
  memory: FeedMemory,
  { http }: FetchContext,
): Promise<Fetch> {
  const { etag, lastModified } = memory;
  const response = await http.request({
    url: address,
    headers: {
      accept: ACCEPT,
      ...(etag !== undefined && { 'if-none-match': etag }),
      ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
    },
    accept: [304],
    redirects: 'follow',
    foreign: true,
  });
  const movedTo = response.movedTo ?? (address === feedUrl ? undefined : address);
  const moved = movedTo === undefined ? {} : { movedTo };
  if (response.status === 304) {
    return { answer: { items: [], warnings: [] }, remembered: { ...memory, ...moved } };
  }
  const { headers } = response;
  const answer = parseFeedAnswer(response.bytes, {
    feedUrl,
    url: response.url,
    contentType: headers['content-type'],
    contentLocation: headers['content-location'],
  });
  const remembered = {
    ...(headers['etag'] !== undefined && { etag: headers['etag'] }),
    ...(headers['last-modified'] !== undefined && { lastModified: headers['last-modified'] }),
    ...moved,
  };
  return { answer, remembered };
}

function movedOnly({ movedTo }: FeedMemory): FeedMemory {
  return movedTo === undefined ? {} : { movedTo };
}

function memoryOf(feedUrl: string, context: FetchContext): FeedMemory {
  const { state, now } = context;
  const isRecent = (gone: string | undefined): gone is string =>
    gone !== undefined && now.getTime() - Date.parse(gone) < GONE_MS;
  const inSession = goneIn(context).get(feedUrl);
  if (isRecent(inSession)) return { gone: inSession };
  const kept = recordOf(recordOf(state['feeds'])?.[feedUrl]);
  const [etag, lastModified, movedTo, gone] = ['etag', 'lastModified', 'movedTo', 'gone'].map((name) =>
    textOf(kept?.[name]),
  );
  return {
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
    ...(movedTo !== undefined && { movedTo }),
    ...(isRecent(gone) && { gone }),
  };
}

function remember(feedUrl: string, context: FetchContext, memory: FeedMemory): void {
  const { state } = context;
  state['feeds'] = { ...recordOf(state['feeds']), [feedUrl]: memory };
  // The state of a failed check is not kept, and a search of one feed that is gone only fails.
  if (memory.gone) goneIn(context).set(feedUrl, memory.gone);
}

function goneIn(context: FetchContext): LRUCache<string, string> {
  return sessionCache<string>(context, 'rss.gone', GONE_KEPT);
}
