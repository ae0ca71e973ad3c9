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
  /** The time in ms for which the publisher asks not to be requested again (`Cache-Control: max-age`, `<ttl>`). */
  publisherWaitMs: number;
}

/** Number of failed reads of a feed in a row, and the end of its wait (ms since the epoch). */
export interface FeedTrouble {
  failures: number;
  until: number;
  kind: UpstreamErrorKind;
  reason: string;
  statusCode: number;
}

const FEEDS_KEPT = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 15 * 60_000;
/** All searches share a response of the last five seconds. */
const MOMENT_MS = 5_000;

/** The state of feeds by address, shared by all searches and accounts. It is kept in the source's session. */
export class FeedCache {
  private readonly troubles: LRUCache<string, FeedTrouble>;
  private readonly answers: LRUCache<string, CachedFeed>;

  constructor(private readonly context: FetchContext) {
    this.troubles = sessionCache<FeedTrouble>(context, 'rss.troubles', FEEDS_KEPT);
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
   * The last response, if it is recent enough. Its maximum age is the time that the publisher asks for, but at most
   * half of the search's interval. So a feed that only one search uses is read at every check. At a first poll the
   * maximum age is five seconds: entries that are missing in the first poll would later count as new.
   */
  freshAnswerOf(feedUrl: string): CachedFeed | undefined {
    const answer = this.answers.get(feedUrl);
    if (!answer) return undefined;
    const { intervalSeconds = 0, since, now } = this.context;
    const minMs = since === undefined ? MOMENT_MS : Math.max(answer.publisherWaitMs, MOMENT_MS);
    return now.getTime() - answer.readAt < Math.min(intervalSeconds * 500, minMs) ? answer : undefined;
  }

  /** Why the feed gets no requests at the moment; undefined if it may be requested. */
  troubleOf(feedUrl: string): FeedTrouble | undefined {
    const trouble = this.troubles.get(feedUrl);
    return trouble && trouble.until > this.context.now.getTime() ? trouble : undefined;
  }

  failed(feedUrl: string, { kind, message: reason, statusCode }: UpstreamError): void {
    const failures = (this.troubles.get(feedUrl)?.failures ?? 0) + 1;
    const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10));
    const until = this.context.now.getTime() + waitMs;
    this.troubles.set(feedUrl, { failures, until, kind, reason, statusCode });
  }

  answered(feedUrl: string): void {
    this.troubles.delete(feedUrl);
  }
}

function sizeOf({ feed }: CachedFeed): number {
  return feed.items.reduce((sum, item) => sum + item.length, 1_000);
}
