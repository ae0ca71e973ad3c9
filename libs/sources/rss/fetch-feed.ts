import type { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { displayUrl } from '#http-out';
import { NamedServerClient } from '../shared/named-server-client.js';
import { sessionCache } from '../shared/session-cache.js';
import { recordOf, textOf } from '../shared/shape.js';
import {
  UpstreamError,
  type FetchContext,
  type UpstreamErrorKind,
  type UpstreamResponse,
} from '../source.js';
import { FeedCache, type CachedFeed, type FeedFailure, type Validators } from './feed-cache.js';
import { parseOffThread } from './parse-off-thread.js';
import { answerOf, type FeedAnswer, type StoredFeed } from './parse.js';
import { publisherWaitMsOf } from './publisher-wait.js';

/** Data of one feed that is kept from check to check. */
interface FeedMemory extends Validators {
  /** The feed's new address after a permanent redirect (301, 308). */
  movedTo?: string;
  /** When the feed answered 410 (ISO 8601). After that, the feed is not requested for a day. */
  gone?: string;
}

const ACCEPT =
  'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5';
// The time is limited because some servers answer 410 by mistake, and some feeds come back.
const GONE_MS = 24 * 3_600_000;
const GONE_KEPT = 5_000;
const HOSTS_KEPT = 5_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum number of concurrent requests to one server. */
const REQUESTS_AT_ONCE = 4;
// These errors can mean that the redirect was a mistake or is outdated. So after them the old address is requested
// again.
const REDIRECT_FAILED: ReadonlySet<UpstreamErrorKind> = new Set([
  'not_found',
  'gone',
  'network',
  'blocked',
  'not_parsable',
]);

/**
 * Reads one feed from its current address, if the feed has changed since the last check. If the feed has failed or its
 * server has asked Earshot to wait, no search requests the feed during the wait.
 * @throws UpstreamError that names the feed
 */
export async function fetchFeed(feedUrl: string, context: FetchContext): Promise<FeedAnswer> {
  const cache = new FeedCache(context);
  const memory = memoryOf(feedUrl, context);
  try {
    if (memory.gone)
      throw new UpstreamError(
        'gone',
        'the feed answered 410 (gone); Earshot requests it again after a day',
        410,
      );
    const fresh = cache.freshAnswerOf(feedUrl);
    if (fresh) return reused(feedUrl, fresh, memory, context);
    refuseWhileWaiting(cache.failureOf(feedUrl), context);
    const { feed, remembered } = await fetchMoved(feedUrl, memory, context, cache);
    cache.clearFailure(feedUrl);
    remember(feedUrl, context, remembered);
    const answer = feed ? answerOf(feed) : { items: [], warnings: [] };
    return withIntervalWarning(feedUrl, answer, cache.answerOf(feedUrl)?.publisherWaitMs ?? 0, context);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // The validators are removed. Watches that join the search during the failure need the whole feed at the next
    // read, not the response "unchanged".
    if (error.kind !== 'gone') remember(feedUrl, context, movedOnly(memory));
    else if (!memory.gone) remember(feedUrl, context, { gone: context.now.toISOString() });
    const reason = `${displayUrl(feedUrl)}: ${error.message}`;
    throw new UpstreamError(error.kind, reason, error.statusCode, error.retryAfterMs);
  }
}

function refuseWhileWaiting(failure: FeedFailure | undefined, { now }: FetchContext): void {
  if (!failure) return;
  const waitMs = failure.until - now.getTime();
  const { kind, reason, statusCode } = failure;
  throw new UpstreamError(
    kind,
    `${reason}; Earshot requests it again in ${Math.ceil(waitMs / 1000)} s`,
    statusCode,
    waitMs,
  );
}

/** The result of a request. */
interface FeedRead {
  /** Undefined if the feed has not changed after the version that the search has seen. */
  feed: StoredFeed | undefined;
  remembered: FeedMemory;
}

/** Returns the result of another search's recent read. */
function reused(feedUrl: string, cached: CachedFeed, memory: FeedMemory, context: FetchContext): FeedAnswer {
  const { etag, lastModified } = cached;
  remember(feedUrl, context, { ...movedOnly(memory), ...validatorsOf(etag, lastModified) });
  const answer = answerOf(cached.feed);
  const seconds = Math.round((context.now.getTime() - cached.readAt) / 1000);
  if (cached.publisherWaitMs === 0) return answer;
  const note = `${displayUrl(feedUrl)}: read ${seconds} s ago and not read again now; the feed asks to be read only every ${cached.publisherWaitMs / 1000} s`;
  return { ...answer, warnings: [...answer.warnings, note] };
}

/** Adds a warning if the search's interval is shorter than the interval that the publisher asks for. */
function withIntervalWarning(
  feedUrl: string,
  answer: FeedAnswer,
  publisherWaitMs: number,
  { intervalSeconds = Infinity }: FetchContext,
): FeedAnswer {
  if (publisherWaitMs <= intervalSeconds * 1000) return answer;
  const note = `${displayUrl(feedUrl)}: read every ${intervalSeconds} s, the shortest interval of all watches of this search, although the feed asks to be read only every ${publisherWaitMs / 1000} s`;
  return { ...answer, warnings: [...answer.warnings, note] };
}

async function fetchMoved(
  feedUrl: string,
  memory: FeedMemory,
  context: FetchContext,
  cache: FeedCache,
): Promise<FeedRead> {
  const { movedTo } = memory;
  const unmoved = { feedUrl, address: feedUrl, memory, context, cache };
  if (movedTo === undefined) return fetchShared(unmoved);
  try {
    return await fetchShared({ ...unmoved, address: movedTo });
  } catch (error) {
    if (!(error instanceof UpstreamError) || !REDIRECT_FAILED.has(error.kind)) throw error;
    return fetchShared({ ...unmoved, memory: {} });
  }
}

interface FeedRequest {
  feedUrl: string;
  address: string;
  memory: FeedMemory;
  context: FetchContext;
  cache: FeedCache;
}

/**
 * Sends one request for all searches that have seen the same version of a feed. The results of a batch stay in memory
 * until its last read, so they do not contain the entries: the other searches take these from the cache. If the cache
 * does not contain the feed any more, they request it again.
 */
async function fetchShared(request: FeedRequest): Promise<FeedRead> {
  const { feedUrl, address, memory, context, cache } = request;
  const key = JSON.stringify(['rss', feedUrl, address, memory.etag, memory.lastModified]);
  let own: FeedRead | undefined;
  const { isUnchanged, remembered } = await context.shared(key, async () => {
    own = await fetchNoted(request);
    return { isUnchanged: own.feed === undefined, remembered: own.remembered };
  });
  if (own) return own;
  if (isUnchanged) return { feed: undefined, remembered };
  const cached = cache.answerOf(feedUrl);
  if (!cached) return fetchNoted(request);
  const { etag, lastModified, feed } = cached;
  return { feed, remembered: { ...movedOnly(remembered), ...validatorsOf(etag, lastModified) } };
}

async function fetchNoted(request: FeedRequest): Promise<FeedRead> {
  try {
    return await fetchAt(request);
  } catch (error) {
    // If the server asked Earshot to wait, this is not a failure of the feed.
    if (error instanceof UpstreamError && error.retryAfterMs === undefined)
      request.cache.recordFailure(request.feedUrl, error);
    throw error;
  }
}

async function fetchAt({ feedUrl, address, memory, context, cache }: FeedRequest): Promise<FeedRead> {
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
    // If this search has not seen the cached version, "unchanged" refers to a version that only other searches have
    // read. So this search gets the whole feed.
    const feed = isSeen ? undefined : cached.feed;
    return { feed, remembered: { ...validatorsOf(asked.etag, asked.lastModified), ...moved } };
  }
  const feed = await parseOffThread(response.bytes, {
    feedUrl,
    url: response.url,
    contentType: headers['content-type'],
    contentLocation: headers['content-location'],
  });
  const validators = validatorsOf(headers['etag'], headers['last-modified']);
  const publisherWaitMs = publisherWaitMsOf(headers, feed.ttl);
  cache.keep(feedUrl, { ...validators, address, feed, readAt: now, publisherWaitMs });
  return { feed, remembered: { ...validators, ...moved } };
}

/**
 * Requests a feed. Only a few requests to one server run at the same time, and none if the server has asked Earshot to
 * wait.
 */
async function requestFeed(
  address: string,
  { etag, lastModified }: Validators,
  context: FetchContext,
): Promise<UpstreamResponse> {
  const { host } = new URL(address);
  const server = new NamedServerClient('rss', host, context);
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
          maxBytes: MAX_BYTES,
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
  const inSession = goneFeedsOf(context).get(feedUrl);
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
  // The state of a failed check is not stored. If the only feed of a search is gone, every check of this search fails.
  // So the session also stores when the feed answered 410.
  if (memory.gone) goneFeedsOf(context).set(feedUrl, memory.gone);
}

function goneFeedsOf(context: FetchContext): LRUCache<string, string> {
  return sessionCache<string>(context, 'rss.gone', GONE_KEPT);
}
