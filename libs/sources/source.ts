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
  /** The keys of `filters` that this source reads; it ignores all others. */
  readonly filterKeys: readonly string[];
  /** Faults of criteria that this source does not support (paths relative to the criteria: `filters.feed_urls`). */
  checkCriteria(criteria: Criteria): Fault[];
  /** Addresses of servers in the criteria. Criteria with addresses that can never be reached are refused. */
  namedServers?(criteria: Criteria): NamedServer[];
  /** Minimum number of upstream requests of one search (its first pages), which is compared with the shared feed. */
  requestsPerSearch(criteria: Criteria): number;
  /** Returns newest first. Reads pages until `context.since`, a known item or the page cap. */
  search(criteria: Criteria, context: FetchContext): Promise<Fetched>;
  /**
   * The feed of the newest items of the whole source, if there is a cheap one. It serves every search by local
   * matching.
   */
  readonly feed?: {
    /** Requests to read everything published in a window of this length. */
    pagesFor(windowSeconds: number): number;
    read(since: Date, context: FetchContext): Promise<Fetched>;
    /** Seconds without a new item after which the feed counts as frozen, although it responds. */
    quietSeconds: number;
    /**
     * False if the search asks for a part that matching cannot determine (a server, a tag), so it is read separately.
     * Default true.
     */
    serves?(criteria: Criteria): boolean;
  };
  /** Number of priced parts of one check (engines asked); default 1. */
  unitsPerCheck?(criteria: Criteria): number;
  /** Maximum number of items of a first read, if the price counts them. */
  itemsPerFirstScan?(criteria: Criteria): number;
  /** Lookups of one thing, which are answered at once and never polled, by operation: `tweets`, `videoComments`. */
  readonly lookups?: Readonly<Record<string, Lookup>>;
  /**
   * Set if the upstream has a separate limit for each kind of lookup. Then lookups have their own rate beside that of
   * the checks, and an exhausted limit delays neither searches nor other kinds. `burst`: how many may be sent at once.
   */
  readonly lookupsApart?: { requestsPerMinute: number; burst: number };
  /** False: the upstream has no search of its own, so `platform` means whole words. */
  readonly hasSearch: boolean;
  /** True: every returned item matches, because the connector reports exactly what was asked for (ai_answers). */
  readonly matchesUpstream?: true;
  /** The upstream's limits for one installation. */
  readonly budget: LaneBudget;
  /** True: all searches have the same grid of ticks, because they share requests (rss, hackernews). */
  readonly commonGrid: boolean;
}

/** A server in a search, and the path of the field. */
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
   * `lane`: an outage (429, 5xx, time-outs) makes every search of the source wait. `search`: each search has its own
   * upstream (feeds), and only the failing one waits.
   */
  backoff: 'lane' | 'search';
  /** Daily quotas of the upstream by name. Requests specify what they spend. They are also divided among lanes. */
  quotas?: Readonly<Record<string, DailyQuota>>;
}

/** A number of points per day. The spent points survive restarts. */
export interface DailyQuota {
  points: number;
  /** The first reset after `now`: midnight in the upstream's time zone. */
  nextReset(now: Date): Date;
}

/**
 * Answers one question about one thing of the upstream. The gateway has validated `question`.
 * @throws UpstreamError when the upstream does not answer correctly
 */
export type Lookup = (question: JsonObject, context: LookupContext) => Promise<LookupAnswer>;

/** The context of a lookup. */
export interface LookupContext {
  http: UpstreamHttp;
  now: Date;
  /** The session of the lane: access tokens. */
  session: Map<string, unknown>;
}

/**
 * `found`: the number of found things, if the price counts them. `refused`: a definitive negative answer, which is
 * charged as well.
 */
export type LookupAnswer =
  | { kind: 'found'; body: JsonObject; found: number }
  | { kind: 'refused'; code: string; message: string };

/** The result of a read. */
export interface Fetched {
  /** Newest first, every item once. */
  items: SourceItem[];
  /** True if the page cap was reached before a known item or `since`. */
  gap: boolean;
  /** Parts that could not be read although the rest could, described for people. */
  warnings: string[];
  /**
   * By item id, for items of a part of the upstream (one of several feeds) that had an outage: the time of the outage.
   * A watch whose reads all happened during it sees the whole archive of that part for the first time.
   */
  outages?: ReadonlyMap<string, Outage>;
  /** Number of priced parts that answered; default 1. */
  units?: number;
  /** Observations of things that are followed over time: listings, answers. */
  observations?: MessageInitShape<typeof ObservationSchema>[];
}

/** From the first failed read to the first successful one. */
export interface Outage {
  from: Date;
  until: Date;
}

/** The context of one read. */
export interface FetchContext {
  http: UpstreamHttp;
  /** The search's match mode. A connector may make its requests more precise with it, but does not match. */
  match: MatchMode;
  now: Date;
  /** The interval of the search; absent for a read that serves many. */
  intervalSeconds?: number;
  /**
   * Everything published after this time is wanted. Absent at a first poll, for which one page of the newest items is
   * enough.
   */
  since?: Date;
  /** Maximum number of pages of one read. */
  pageCap: number;
  /** True if the search has seen the item before, so that paging may stop. */
  known(itemId: string): boolean;
  /**
   * Data that the connector keeps for this search from check to check (ETags, moved addresses), as JSON. The connector
   * reads and changes it; it is stored only if the check succeeds. It is empty at a first poll, also at the first poll
   * of another watch on the same search, because then the complete response is wanted. Only the key `history` is always
   * present: the known state of the upstream, from reads for any watch.
   */
  state: Record<string, unknown>;
  /** Runs `read` once for all searches of this batch with the same key. */
  shared<T>(key: string, read: () => Promise<T>): Promise<T>;
  /** In memory, for the life of the process: access tokens, data about servers in searches. */
  session: Map<string, unknown>;
}

/**
 * The HTTP client of a source, with base address override (`SOURCE_<ID>_URL`), budget of the lane, deadline and size
 * limit. It throws `UpstreamError` for network faults, timeouts, 401, 403, 404, 410, 429 and 5xx, and for any other
 * status that is not in `accept`.
 */
export interface UpstreamHttp {
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** Like `request`, and parses JSON. A response that is not JSON is an `UpstreamError` `not_parsable`. */
  json(request: UpstreamRequest): Promise<{ body: unknown; response: UpstreamResponse }>;
  /**
   * For a successful response in which the upstream asks to wait (`backoff`, an exhausted window): no request is sent
   * before `waitMs` have passed; with `quota`, none that spends of it.
   */
  holdOff(wait: { waitMs: number; reason: string; quota?: string }): void;
}

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
  /** The points that it spends of a daily quota of the source's budget. */
  spends?: { quota: string; points: number };
  /** True for a server that only this search names: its requests to wait do not affect the lane. */
  foreign?: true;
  /** Maximum decoded bytes of the response; default 16 MiB. */
  maxBytes?: number;
  /** Time limit of this request; default 20 s. For upstreams that respond slowly. */
  deadlineMs?: number;
}

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

/** A failed read, with a reason for people. The check fails with it and is free. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';

  constructor(
    readonly kind: UpstreamErrorKind,
    /** For people: "reddit answered 403: …". */
    reason: string,
    readonly statusCode = 0,
    /** How long the upstream asks to wait, if it does. */
    readonly retryAfterMs?: number,
    /**
     * `search`: something that only this search names has failed (one server of many), so other searches need not wait.
     */
    readonly reach: 'upstream' | 'search' = 'upstream',
  ) {
    super(reason);
  }
}
