import type { Criteria, Item, ItemSchema, MatchMode, ObservationSchema, SourceId } from '#contracts';
import type { Fault } from '#kernel';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';

/** The result of a connector: one published thing in the common structure. */
export type SourceItem = Item;
/** The plain-object form of an item, for `create(ItemSchema, …)`. */
export type SourceItemInit = MessageInitShape<typeof ItemSchema>;

/**
 * One upstream. A connector builds requests, parses responses and maps them to items. It never schedules, matches,
 * stores, bills or publishes. A response with an unknown structure is an `UpstreamError`, never an empty list.
 */
export interface SourceConnector {
  readonly id: SourceId;
  /**
   * Settings without which the source is not configured, for example `SOURCE_REDDIT_CLIENT_ID`. One setting of an inner
   * list is enough; settings that belong together are joined by ` and `.
   */
  readonly requiredSettings: readonly (string | readonly string[])[];
  /** The keys of `filters` that this source reads; it ignores all other keys. */
  readonly filterKeys: readonly string[];
  /**
   * Returns a fault for each part of the criteria that this source does not support (paths relative to the criteria:
   * `filters.feed_urls`).
   */
  checkCriteria(criteria: Criteria): Fault[];
  /**
   * Addresses of servers in the criteria. Criteria with a private IP address or `localhost` are refused unless
   * `EGRESS_ALLOW` permits the address, because each check would fail at it. Other names are checked when a request
   * connects.
   */
  namedServers?(criteria: Criteria): NamedServer[];
  /**
   * Returns the number of upstream requests that a separate read of one search needs, usually those of its first pages.
   * `planFetch` compares it with the requests for the feed. A source can return a high number, so that the feed is
   * always read instead.
   */
  requestsPerSearch(criteria: Criteria): number;
  /** Returns the items, newest first. Reads pages until `context.since`, a known item or the page cap. */
  search(criteria: Criteria, context: FetchContext): Promise<Fetched>;
  /**
   * The feed of the newest items of the whole source. One read of the feed can replace the separate reads of several
   * due searches: `planFetch` decides which. Earshot matches the items of the feed with these searches.
   */
  readonly feed?: {
    /**
     * Returns the number of requests to read everything that was published in this many seconds; Infinity if one read
     * of the feed cannot reach back so far, so that each search is read separately.
     */
    pagesFor(windowSeconds: number): number;
    read(since: Date, context: FetchContext): Promise<Fetched>;
    /** After this many seconds without a new item, the feed counts as frozen, even if it responds. */
    quietSeconds: number;
    /**
     * False if the search must be read separately, because Earshot cannot match its filters (a server, a tag). Default
     * true.
     */
    serves?(criteria: Criteria): boolean;
  };
  /** Returns the number of parts of one check that have a price each (the engines that are asked); default 1. */
  unitsPerCheck?(criteria: Criteria): number;
  /** Returns the maximum number of items of a first read, if the price depends on the number of items. */
  itemsPerFirstScan?(criteria: Criteria): number;
  /**
   * Direct lookups by operation, for example `tweets` and `videoComments`. They are answered immediately and never
   * polled.
   */
  readonly lookups?: Readonly<Record<string, Lookup>>;
  /**
   * Set if the upstream has a separate limit for each kind of lookup. Then each kind has its own `requestsPerMinute`,
   * and does not delay checks or other kinds. `burst` is the number of requests of one kind that can be sent without a
   * wait between them.
   */
  readonly lookupsApart?: { requestsPerMinute: number; burst: number };
  /** False if the upstream has no search. Then mode `platform` matches whole words. */
  readonly hasSearch: boolean;
  /** True if every returned item matches, because the connector returns only items of the search (ai_answers). */
  readonly matchesUpstream?: true;
  /**
   * True if our clock dates what the source reports (`happenedAt` of its items). Then our clock also dates its reads.
   * Otherwise the clock that is behind dates them: ours or the upstream's.
   */
  readonly datesByOurClock?: true;
  /** The upstream's limits for one installation. */
  readonly budget: LaneBudget;
  /**
   * True if all searches with the same interval are due at the same instants, because they share requests (for example
   * rss, hackernews).
   */
  readonly commonGrid: boolean;
}

/** A server in a search, and the path of the field with its address. */
export interface NamedServer {
  /** Relative to the criteria: `filters.feed_urls`. */
  path: string;
  url: string;
}

/** The upstream's limits, shared by all searches of the source, and divided if the source has several lanes. */
export interface LaneBudget {
  requestsPerMinute: number;
  /** Maximum number of concurrent requests. */
  concurrency: number;
  /**
   * `lane`: an outage (for example 429, 5xx, a time-out) makes every search of the lane wait. `search`: each search has
   * its own upstream (feeds), and only the failing search waits.
   */
  backoff: 'lane' | 'search';
  /**
   * Daily quotas of the upstream by name. Each request specifies how many points it spends. The quotas are also divided
   * if the source has several lanes.
   */
  quotas?: Readonly<Record<string, DailyQuota>>;
}

/** A number of points per day. The spent points survive restarts. */
export interface DailyQuota {
  points: number;
  /** Returns the first reset after `now`: midnight in the upstream's time zone. */
  nextReset(now: Date): Date;
}

/**
 * Answers one question, for example about one user or video. The gateway has validated `question`.
 * @throws UpstreamError if the upstream does not answer correctly
 */
export type Lookup = (question: JsonObject, context: LookupContext) => Promise<LookupAnswer>;

/** The context of a lookup. */
export interface LookupContext {
  http: UpstreamHttp;
  now: Date;
  /** The access tokens of the source. All lanes of a replica share them. */
  session: Map<string, unknown>;
}

/**
 * `found` is the number of results, which the price can depend on. `refused` is a definite negative answer; it is also
 * charged.
 */
export type LookupAnswer =
  | { kind: 'found'; body: JsonObject; found: number }
  | { kind: 'refused'; code: string; message: string };

/** The result of a read. */
export interface Fetched {
  /** Newest first, every item once. */
  items: SourceItem[];
  /** True if items can be missing, for example because the page cap was reached before a known item or `since`. */
  gap: boolean;
  /** Descriptions of the parts that could not be read. The other parts were read. */
  warnings: string[];
  /**
   * Outages of parts of the upstream, for example of one of several feeds, by the ids of the items of the part. If the
   * part failed at every earlier read of a watch, its items count as old for this watch. Items with a date after the
   * baseline of the watch are an exception.
   */
  outages?: ReadonlyMap<string, Outage>;
  /** Number of parts with a price each that answered; default 1. */
  units?: number;
  /** Observations of things that are followed over time: listings, answers. */
  observations?: MessageInitShape<typeof ObservationSchema>[];
}

/** An outage, from the first failed read to the first successful read. */
export interface Outage {
  from: Date;
  until: Date;
}

/** The context of one read. */
export interface FetchContext {
  http: UpstreamHttp;
  /** The search's match mode. A connector can use the mode to make its requests more precise, but does not match. */
  match: MatchMode;
  now: Date;
  /** The shortest interval of the search's active watches; absent for a read of the feed, and in an Explore. */
  intervalSeconds?: number;
  /**
   * The read should return everything that was published after this time. Absent at a first check, and in an Explore if
   * the source has a search: then one page of the newest items is enough.
   */
  since?: Date;
  /** Maximum number of pages of one read. */
  pageCap: number;
  /** True if every due watch of the search has already seen the item. Then paging can stop. */
  known(itemId: string): boolean;
  /**
   * State that the connector keeps for this search from check to check (ETags, moved addresses), as JSON. The connector
   * reads and changes the state. Earshot stores it only if the check succeeds. If a due watch has its first check, or
   * was left out of the read that stored the state, this watch needs the complete response. Then the state contains
   * only the key `history`: the known state of the upstream.
   */
  state: Record<string, unknown>;
  /**
   * Runs `read` once for all searches of this batch with the same key. The result stays in memory until the last search
   * of the batch is read, so it should be small.
   */
  shared<T>(key: string, read: () => Promise<T>): Promise<T>;
  /** Data in memory for the life of the process: access tokens, data about servers in searches. */
  session: Map<string, unknown>;
}

/**
 * The HTTP client of a source. It applies `SOURCE_<ID>_URL`, the lane's budget, a deadline and a size limit. It throws
 * `UpstreamError` for addresses that are not allowed, network faults, timeouts, responses that are too large, and any
 * status that is neither 2xx nor in `accept`. If the budget does not allow the request, it throws the error of the
 * budget.
 */
export interface UpstreamHttp {
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  /**
   * Like `request`, and parses JSON.
   * @throws UpstreamError also with the kind `not_parsable` or `truncated`, if the response is not JSON
   */
  json(request: UpstreamRequest): Promise<{ body: unknown; response: UpstreamResponse }>;
  /**
   * Makes the lane wait for `waitMs`. Connectors call this if no error of the read tells the lane about the wait: the
   * upstream asks for it in a successful response (`backoff`, an exhausted window), or only a part of the read failed.
   * With `quota`, only requests that spend points of this quota are refused for this time.
   */
  holdOff(wait: { waitMs: number; reason: string; quota?: string }): void;
}

/** A request to an upstream. */
export interface UpstreamRequest {
  /** Default GET. */
  method?: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** Statuses besides 2xx that are not an error, for example 304. */
  accept?: readonly number[];
  /** `follow`: up to 5 redirects, each address checked. `none`: a redirect is an error. Default `none`. */
  redirects?: 'none' | 'follow';
  /** The points of a daily quota that the request spends. */
  spends?: { quota: string; points: number };
  /**
   * True if the server is named in the search and is not the configured one. Then the lane ignores the
   * server's requests to wait.
   */
  foreign?: true;
  /** Maximum decoded bytes of the response; default 16 MiB. */
  maxBytes?: number;
  /** Time limit of this request; default 20 s. For upstreams that respond slowly. */
  deadlineMs?: number;
}

/** A response of an upstream. */
export interface UpstreamResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** Each `Set-Cookie` separately; absent if there was none. */
  setCookies?: readonly string[];
  bytes: Uint8Array;
  /** UTF-8 of the bytes. */
  text: string;
  /** Address of the last request, after redirects. */
  url: string;
  /** The address after the leading permanent redirects (301, 308), if there were any. */
  movedTo?: string;
}

/** Why a read of an upstream failed. */
export type UpstreamErrorKind =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'gone'
  | 'rate_limited'
  | 'quota_spent'
  | 'server_error'
  | 'timeout'
  | 'network'
  | 'blocked'
  | 'not_parsable'
  | 'truncated'
  | 'unknown_shape'
  | 'frozen'
  | 'too_large'
  | 'unexpected_status';

/**
 * `waitMs` of an error if the upstream asks for a wait and does not say how long. Connectors use it if a part of an
 * upstream fails. If a whole read fails, `backoff.ts` in apps/polling/domain decides how long the lane waits.
 */
const RATE_LIMIT_WAIT_MS = 30_000;

/** A failed read, with a reason for people. The check of a failed read fails too, and is free. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';

  constructor(
    readonly kind: UpstreamErrorKind,
    /** A text for people: "reddit answered 403: …". */
    reason: string,
    readonly statusCode = 0,
    /** How long the upstream asks Earshot to wait, if it asks. */
    readonly retryAfterMs?: number,
    /**
     * `search`: the failure concerns only this search, for example because a server that the search names has failed.
     * Other searches need not wait.
     */
    readonly reach: 'upstream' | 'search' = 'upstream',
  ) {
    super(reason);
  }

  /** The wait that the error asks for, in ms; 0 if it does not ask Earshot to wait. */
  get waitMs(): number {
    return this.retryAfterMs ?? (this.kind === 'rate_limited' ? RATE_LIMIT_WAIT_MS : 0);
  }
}
