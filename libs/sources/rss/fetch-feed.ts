import type { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { displayUrl } from '#http-out';
import { ForeignServer } from '../shared/foreign-server.js';
import { sessionCache } from '../shared/session-cache.js';
import { recordOf, textOf } from '../shared/shape.js';
import {
  UpstreamError,
  type FetchContext,
  type UpstreamErrorKind,
  type UpstreamResponse,
} from '../source.js';
import { FeedCache, type CachedFeed, type FeedTrouble, type Validators } from './feed-cache.js';
import { parseOffThread } from './parse-off-thread.js';
import { answerOf, type FeedAnswer } from './parse.js';
import { politeMsOf } from './politeness.js';

/** What is remembered of one feed from check to check. */
interface FeedMemory extends Validators {
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
const HOSTS_KEPT = 5_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of one server. */
const REQUESTS_AT_ONCE = 4;
// With these a new address was a mistake, or is past: the old one is asked again.
const MOVED_IN_VAIN: ReadonlySet<UpstreamErrorKind> = new Set([
  'not_found',
  'gone',
  'network',
  'blocked',
  'not_parsable',
]);

/**
 * Reads one feed: only what has changed since the last check, from where it has moved to. A feed that has failed, and a
 * server that asks for patience, are left alone by all searches alike. Throws `UpstreamError` that names the feed.
 */
export async function fetchFeed(feedUrl: string, context: FetchContext): Promise<FeedAnswer> {
  const cache = new FeedCache(context);
  const memory = memoryOf(feedUrl, context);
  try {
    if (memory.gone)
      throw new UpstreamError('gone', 'it answered 410 and is asked again a day after that', 410);
    const fresh = cache.freshAnswerOf(feedUrl);
    if (fresh) return reused(feedUrl, fresh, memory, context);
    refuseTroubled(cache.troubleOf(feedUrl), context);
    const { answer, remembered } = await fetchMoved(feedUrl, memory, context, cache);
    cache.answered(feedUrl);
    remember(feedUrl, context, remembered);
    return withHurry(feedUrl, answer, cache.answerOf(feedUrl)?.politeMs ?? 0, context);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // No validators: watches that have begun since want the whole feed, not "nothing new" since before them.
    if (error.kind !== 'gone') remember(feedUrl, context, movedOnly(memory));
    else if (!memory.gone) remember(feedUrl, context, { gone: context.now.toISOString() });
    const reason = `${displayUrl(feedUrl)}: ${error.message}`;
    throw new UpstreamError(error.kind, reason, error.statusCode, error.retryAfterMs);
  }
}

function refuseTroubled(trouble: FeedTrouble | undefined, { now }: FetchContext): void {
  if (!trouble) return;
  const waitMs = trouble.until - now.getTime();
  const { kind, reason, statusCode } = trouble;
  throw new UpstreamError(
    kind,
    `${reason}; asked again in ${Math.ceil(waitMs / 1000)} s`,
    statusCode,
    waitMs,
  );
}

interface Fetch {
  answer: FeedAnswer;
  remembered: FeedMemory;
}

/** What another search has just read is not asked for again. */
function reused(feedUrl: string, cached: CachedFeed, memory: FeedMemory, context: FetchContext): FeedAnswer {
  const { etag, lastModified } = cached;
  remember(feedUrl, context, { ...movedOnly(memory), ...validatorsOf(etag, lastModified) });
  const answer = answerOf(cached.feed);
  const seconds = Math.round((context.now.getTime() - cached.readAt) / 1000);
  if (cached.politeMs === 0) return answer;
  const note = `${displayUrl(feedUrl)}: read ${seconds} s ago and not again, since it asks to be read every ${cached.politeMs / 1000} s`;
  return { ...answer, warnings: [...answer.warnings, note] };
}

/** The interval is the user's to choose; that the publisher asks for a longer one is worth knowing. */
function withHurry(
  feedUrl: string,
  answer: FeedAnswer,
  politeMs: number,
  { intervalSeconds = Infinity }: FetchContext,
): FeedAnswer {
  if (politeMs <= intervalSeconds * 1000) return answer;
  const note = `${displayUrl(feedUrl)}: read every ${intervalSeconds} s, as the search says; it asks to be read every ${politeMs / 1000} s`;
  return { ...answer, warnings: [...answer.warnings, note] };
}

async function fetchMoved(
  feedUrl: string,
  memory: FeedMemory,
  context: FetchContext,
  cache: FeedCache,
): Promise<Fetch> {
  const { movedTo } = memory;
  if (movedTo === undefined) return fetchShared(feedUrl, feedUrl, memory, context, cache);
  try {
    return await fetchShared(feedUrl, movedTo, memory, context, cache);
  } catch (error) {
    if (!(error instanceof UpstreamError) || !MOVED_IN_VAIN.has(error.kind)) throw error;
    return fetchShared(feedUrl, feedUrl, {}, context, cache);
  }
}

// Whoever has seen the same version of the same feed gets the same answer: it is asked for once.
async function fetchShared(
  feedUrl: string,
  address: string,
  memory: FeedMemory,
  context: FetchContext,
  cache: FeedCache,
): Promise<Fetch> {
  const key = JSON.stringify(['rss', feedUrl, address, memory.etag, memory.lastModified]);
  return context.shared(key, async () => {
    try {
      return await fetchAt({ feedUrl, address, memory, context, cache });
    } catch (error) {
      // What the server's patience forbids is no failure of the feed.
      if (error instanceof UpstreamError && error.retryAfterMs === undefined) cache.failed(feedUrl, error);
      throw error;
    }
  });
}

interface Asking {
  feedUrl: string;
  address: string;
  memory: FeedMemory;
  context: FetchContext;
  cache: FeedCache;
}

async function fetchAt({ feedUrl, address, memory, context, cache }: Asking): Promise<Fetch> {
  const known = cache.answerOf(feedUrl);
  const cached = known?.address === address ? known : undefined;
  const asked = cached ?? memory;
  const { headers, ...response } = await requestFeed(address, asked, context);
  const movedTo = response.movedTo ?? (address === feedUrl ? undefined : address);
  const moved = movedTo === undefined ? {} : { movedTo };
  const now = context.now.getTime();
  if (response.status === 304) {
    if (cached) cache.keep(feedUrl, { ...cached, readAt: now });
    const isSeen = !cached || (cached.etag === memory.etag && cached.lastModified === memory.lastModified);
    // Another search has seen this version, not this one.
    const answer = isSeen ? { items: [], warnings: [] } : answerOf(cached.feed);
    return { answer, remembered: { ...validatorsOf(asked.etag, asked.lastModified), ...moved } };
  }
  const feed = await parseOffThread(response.bytes, {
    feedUrl,
    url: response.url,
    contentType: headers['content-type'],
    contentLocation: headers['content-location'],
  });
  const validators = validatorsOf(headers['etag'], headers['last-modified']);
  const politeMs = politeMsOf(headers, feed.ttl);
  cache.keep(feedUrl, { ...validators, address, feed, readAt: now, politeMs });
  return { answer: answerOf(feed), remembered: { ...validators, ...moved } };
}

/** Each server has a patience of its own: requests to one of them are few at once, and none before it allows them. */
async function requestFeed(
  address: string,
  { etag, lastModified }: Validators,
  context: FetchContext,
): Promise<UpstreamResponse> {
  const { host } = new URL(address);
  const server = new ForeignServer('rss', host, context);
  return requestsTo(host, context).add(
    async () => {
      try {
        return await server.reading.http.request({
          url: address,
          headers: {
            accept: ACCEPT,
            ...(etag !== undefined && { 'if-none-match': etag }),
            ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
          },
          accept: [304],
          redirects: 'follow',
          maxBytes: MOST_BYTES,
        });
      } catch (error) {
        if (error instanceof UpstreamError) server.noteFault(error);
        throw error;
      }
    },
    { throwOnTimeout: true },
  );
}

function requestsTo(host: string, context: FetchContext): PQueue {
  const queues = sessionCache<PQueue>(context, 'rss.requests', HOSTS_KEPT);
  const queue = queues.get(host) ?? new PQueue({ concurrency: REQUESTS_AT_ONCE });
  queues.set(host, queue);
  return queue;
}

function validatorsOf(etag: string | undefined, lastModified: string | undefined): Validators {
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
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
