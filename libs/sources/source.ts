import type { Criteria, Item, MatchMode, SourceId } from '#contracts';
import type { Fault } from '#kernel';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ItemSchema } from '#contracts';

/** What a connector hands back: one published thing in the shape that all sources share. */
export type SourceItem = Item;
/** The plain-object form of an item, for `create(ItemSchema, …)`. */
export type SourceItemInit = MessageInitShape<typeof ItemSchema>;

/**
 * One upstream. A connector builds requests, parses answers and maps them to items. It never schedules,
 * matches, stores, bills or publishes. An answer of unknown shape is an `UpstreamError`, never an empty list.
 */
export interface SourceConnector {
  readonly id: SourceId;
  /** Settings without which the source is unconfigured, for example `SOURCE_REDDIT_CLIENT_ID`. */
  readonly requiredSettings: readonly string[];
  /** Faults of criteria that this source cannot serve (paths relative to the criteria: `filters.feed_urls`). */
  checkCriteria(criteria: Criteria): Fault[];
  /** Upstream requests that one search needs at least (its first pages): what a shared feed is weighed against. */
  requestsPerSearch(criteria: Criteria): number;
  /** Newest first; pages until `context.since`, a known item or the page cap. */
  search(criteria: Criteria, context: FetchContext): Promise<Fetched>;
  /** The newest-items feed of the whole source, where it has a cheap one: serves every search by local matching. */
  readonly feed?: {
    /** Requests to read everything published in a window of this length. */
    pagesFor(windowSeconds: number): number;
    read(since: Date, context: FetchContext): Promise<Fetched>;
  };
  /** False: the upstream has no search of its own, so that `platform` can only mean whole words. */
  readonly hasSearch: boolean;
  /** What the upstream allows one installation. */
  readonly budget: LaneBudget;
  /** True: ticks of all searches fall on one grid, since searches share requests (rss, hackernews). */
  readonly commonGrid: boolean;
}

/** The upstream's patience: shared by all searches on the source, divided when the source has several lanes. */
export interface LaneBudget {
  requestsPerMinute: number;
  /** Requests under way at once. */
  concurrency: number;
  /**
   * `lane`: an outage (429, 5xx, time-outs) makes every search of the source wait. `search`: each search has an
   * upstream of its own (feeds), and only the failing one waits.
   */
  backoff: 'lane' | 'search';
}

/** What a read found. */
export interface Fetched {
  /** Newest first, every item once. */
  items: SourceItem[];
  /** The page cap was reached before a known item or `since`. */
  gap: boolean;
  /** What could not be read although the rest could, in plain words. */
  warnings: string[];
  /**
   * For items of a part of the upstream (one feed among several) that did not answer for a while, by item id: when
   * that was. A watch whose every read fell into it sees the whole archive of that part for the first time.
   */
  outages?: ReadonlyMap<string, Outage>;
}

/** From the first read that had no answer to the first that had one again. */
export interface Outage {
  from: Date;
  until: Date;
}

/** What a connector is given for one read. */
export interface FetchContext {
  http: UpstreamHttp;
  /** The search's match mode; a connector may ask the upstream more precisely, matching itself is not its job. */
  match: MatchMode;
  now: Date;
  /** Everything published after it is wanted; absent at a first poll: one page of the newest is enough. */
  since?: Date;
  /** Pages one read may take. */
  pageCap: number;
  /** True when the search has seen the item before: paging may stop there. */
  known(itemId: string): boolean;
  /**
   * What the connector remembers for this search from check to check (ETags, moved addresses). JSON. Read it,
   * and write it: it is kept only when the check succeeds. Empty at a first poll, and when another watch
   * on the same search has its first poll: then the whole answer is wanted. Only the key `history` is there even
   * then: what is known of the upstream, whoever saw which read.
   */
  state: Record<string, unknown>;
  /** Runs `read` once for all searches of this batch that ask with the same key. */
  shared<T>(key: string, read: () => Promise<T>): Promise<T>;
  /** In-memory and for the life of the lane: access tokens. */
  session: Map<string, unknown>;
}

/**
 * A source's own door to its upstream: base address override (`SOURCE_<ID>_URL`), budget of the lane, deadline,
 * size limit. It throws `UpstreamError` for network faults, timeouts, 401, 403, 404, 410, 429 and 5xx, and any
 * other status not listed in `accept`.
 */
export interface UpstreamHttp {
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** As `request`, and parses JSON; HTML or anything else that is not JSON is an `UpstreamError` `not_parsable`. */
  json(request: UpstreamRequest): Promise<{ body: unknown; response: UpstreamResponse }>;
}

export interface UpstreamRequest {
  /** GET unless told otherwise. */
  method?: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** Statuses besides 2xx that are an answer and not a fault, for example 304. */
  accept?: readonly number[];
  /** `follow`: up to 5 redirects, each checked by the outbound door. `none`: a redirect is a fault. Default `none`. */
  redirects?: 'none' | 'follow';
}

export interface UpstreamResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  bytes: Uint8Array;
  /** UTF-8 of the bytes. */
  text: string;
  /** Address of the last request, after redirects. */
  url: string;
  /** The address after the leading permanent redirects (301, 308), where there were any. */
  movedTo?: string;
}

/** Why an upstream did not answer as it should. */
export type UpstreamErrorKind =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'gone'
  | 'rate_limited'
  | 'server_error'
  | 'timeout'
  | 'network'
  | 'blocked'
  | 'not_parsable'
  | 'truncated'
  | 'unknown_shape'
  | 'too_large'
  | 'unexpected_status';

/** A failed read, with a reason a person understands. The check fails with it and costs nothing. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';

  constructor(
    readonly kind: UpstreamErrorKind,
    /** For people: "reddit answered 403: …". */
    reason: string,
    readonly statusCode = 0,
    /** How long the upstream asks us to wait, when it says so. */
    readonly retryAfterMs?: number,
  ) {
    super(reason);
  }
}
