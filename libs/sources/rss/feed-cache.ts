import { LRUCache } from 'lru-cache';
import { sessionCache } from '../shared/session-cache.js';
import type { FetchContext, UpstreamError, UpstreamErrorKind } from '../source.js';
import type { StoredFeed } from './parse.js';

/** The validators of one version of a feed, which are sent with the next request. */
export interface Validators {
  etag?: string;
  lastModified?: string;
}

/** The last response of a feed, from a request of any search. */
export interface CachedFeed extends Validators {
  /** The address that was requested. */
  address: string;
  feed: StoredFeed;
  /** When the feed was read, or was confirmed as unchanged (ms since the epoch). */
  readAt: number;
  /**
   * How long the publisher asks clients to wait before their next request, in ms (`Cache-Control: max-age`, `<ttl>`).
   */
  publisherWaitMs: number;
}

/** The last failure of a feed. */
export interface FeedFailure {
  /** Number of consecutive failures. */
  failures: number;
  /** When the feed can be requested again (ms since the epoch). */
  until: number;
  kind: UpstreamErrorKind;
  reason: string;
  statusCode: number;
}

const MAX_FAILURES_KEPT = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 15 * 60_000;
/**
 * A response is shared for this time even if the publisher asks for a shorter wait, but at most for half of the
 * search's interval.
 */
const MIN_SHARED_MS = 5_000;

/** The state of feeds by address, in memory (`session` of the context). All searches and accounts share it. */
export class FeedCache {
  private readonly failedFeeds: LRUCache<string, FeedFailure>;
  private readonly answers: LRUCache<string, CachedFeed>;

  constructor(private readonly context: FetchContext) {
    this.failedFeeds = sessionCache<FeedFailure>(context, 'rss.failures', MAX_FAILURES_KEPT);
    const kept = context.session.get('rss.answers') as LRUCache<string, CachedFeed> | undefined;
    this.answers = kept ?? new LRUCache({ maxSize: MAX_BYTES, sizeCalculation: sizeOf });
    context.session.set('rss.answers', this.answers);
  }

  answerOf(feedUrl: string): CachedFeed | undefined {
    return this.answers.get(feedUrl);
  }

  keep(feedUrl: string, answer: CachedFeed): void {
    this.answers.set(feedUrl, answer);
  }

  /**
   * Returns the last response of a feed, if it is recent enough. The maximum age is the time that the publisher asks
   * for, at least five seconds and at most half of the search's interval. So a feed that only one search uses is read
   * at every check. At the first check the maximum age is at most five seconds, because entries that are missing in the
   * first check would later count as new.
   */
  freshAnswerOf(feedUrl: string): CachedFeed | undefined {
    const answer = this.answers.get(feedUrl);
    if (!answer) return undefined;
    const { intervalSeconds = 0, since, now } = this.context;
    const reusableMs = since === undefined ? MIN_SHARED_MS : Math.max(answer.publisherWaitMs, MIN_SHARED_MS);
    return now.getTime() - answer.readAt < Math.min(intervalSeconds * 500, reusableMs) ? answer : undefined;
  }

  /** Returns why the feed gets no requests at the moment; undefined if it can be requested. */
  failureOf(feedUrl: string): FeedFailure | undefined {
    const failure = this.failedFeeds.get(feedUrl);
    return failure && failure.until > this.context.now.getTime() ? failure : undefined;
  }

  recordFailure(feedUrl: string, { kind, message: reason, statusCode }: UpstreamError): void {
    const failures = (this.failedFeeds.get(feedUrl)?.failures ?? 0) + 1;
    const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10));
    const until = this.context.now.getTime() + waitMs;
    this.failedFeeds.set(feedUrl, { failures, until, kind, reason, statusCode });
  }

  clearFailure(feedUrl: string): void {
    this.failedFeeds.delete(feedUrl);
  }
}

function sizeOf({ feed }: CachedFeed): number {
  return feed.items.reduce((sum, item) => sum + item.length, 1_000);
}
