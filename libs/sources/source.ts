import type { Criteria, Item, ItemSchema, MatchMode, ObservationSchema, SourceId } from '#contracts';
import type { Fault } from '#kernel';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';

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
  /**
   * Settings without which the source is unconfigured, for example `SOURCE_REDDIT_CLIENT_ID`. Of an inner list one is
   * enough; settings in it that belong together are joined by ` and `.
   */
  readonly requiredSettings: readonly (string | readonly string[])[];
  /** The keys of `filters` that this source reads; it ignores all others. */
  readonly filterKeys: readonly string[];
  /** Faults of criteria that this source cannot serve (paths relative to the criteria: `filters.feed_urls`). */
  checkCriteria(criteria: Criteria): Fault[];
  /** Addresses of servers that the criteria name: those that could never be reached are refused with the criteria. */
  namedServers?(criteria: Criteria): NamedServer[];
  /** Upstream requests that one search needs at least (its first pages): what a shared feed is weighed against. */
  requestsPerSearch(criteria: Criteria): number;
  /** Newest first; pages until `context.since`, a known item or the page cap. */
  search(criteria: Criteria, context: FetchContext): Promise<Fetched>;
  /** The newest-items feed of the whole source, where it has a cheap one: serves every search by local matching. */
  readonly feed?: {
    /** Requests to read everything published in a window of this length. */
    pagesFor(windowSeconds: number): number;
    read(since: Date, context: FetchContext): Promise<Fetched>;
    /** Seconds without a single new item after which the feed, although it answers, must be frozen. */
    quietSeconds: number;
    /** False: the search asks for a part that matching cannot tell (a server, a tag), and is read by itself. Absent: true. */
    serves?(criteria: Criteria): boolean;
  };
  /** Priced parts of one check (engines asked); 1 where absent. */
  unitsPerCheck?(criteria: Criteria): number;
  /** Items that a first read returns at the most, where the price counts them. */
  itemsPerFirstScan?(criteria: Criteria): number;
  /** Questions about one thing, asked at once and never polled, by operation: `tweets`, `videoComments`. */
  readonly lookups?: Readonly<Record<string, Lookup>>;
  /**
   * The upstream counts each kind of lookup in a window of its own: they have a pace beside that of the checks, and a used up
   * window holds back neither searches nor other kinds. `burst`: how many may be sent at once.
   */
  readonly lookupsApart?: { requestsPerMinute: number; burst: number };
  /** False: the upstream has no search of its own, so that `platform` can only mean whole words. */
  readonly hasSearch: boolean;
  /** Every item that the connector returns matches: what it reports is what was asked for (ai_answers). */
  readonly matchesUpstream?: true;
  /** What the upstream allows one installation. */
  readonly budget: LaneBudget;
  /** True: ticks of all searches fall on one grid, since searches share requests (rss, hackernews). */
  readonly commonGrid: boolean;
}

/** A server that a search names, and where. */
export interface NamedServer {
  /** Relative to the criteria: `filters.feed_urls`. */
  path: string;
  url: string;
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
  /** What the upstream allows a day, by name; requests say what they spend of it. Divided among lanes as well. */
  quotas?: Readonly<Record<string, DailyQuota>>;
}

/** So many points a day. What is spent is remembered across restarts. */
export interface DailyQuota {
  points: number;
  /** The first reset after `now`: midnight at the upstream. */
  nextReset(now: Date): Date;
}

/**
 * Answers one question about one thing of the upstream. `question` has been checked by the gateway. Throws
 * `UpstreamError` when the upstream does not answer as it should.
 */
export type Lookup = (question: JsonObject, context: LookupContext) => Promise<LookupAnswer>;

/** What a lookup is given. */
export interface LookupContext {
  http: UpstreamHttp;
  now: Date;
  /** The lane's: access tokens. */
  session: Map<string, unknown>;
}

/** `found`: things that were found, where the price counts them. `refused`: a definitive no, charged all the same. */
export type LookupAnswer =
  { kind: 'found'; body: JsonObject; found: number } | { kind: 'refused'; code: string; message: string };

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
  /** Priced parts that answered; 1 where absent. */
  units?: number;
  /** What was seen of things that are followed over time: listings, answers. */
  observations?: MessageInitShape<typeof ObservationSchema>[];
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
  /** How often the search is read; absent for a read that serves many. */
  intervalSeconds?: number;
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
  /** In-memory and for the life of the process: access tokens, what is known of servers that searches name. */
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
  /**
   * The upstream asked for patience in an answer that was fine otherwise (`backoff`, nothing left of a window): no
   * request goes out before `waitMs` have passed; with `quota`, none that spends of it.
   */
  holdOff(wait: { waitMs: number; reason: string; quota?: string }): void;
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
  /** What it spends of a daily quota of the source's budget. */
  spends?: { quota: string; points: number };
  /** Of a server that only this search names: what it says of its patience is no concern of the lane's. */
  foreign?: true;
  /** Decoded bytes of the answer; default 16 MiB. */
  maxBytes?: number;
  /** Over this request; default 20 s. For upstreams that think before they answer. */
  deadlineMs?: number;
}

export interface UpstreamResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** Each `Set-Cookie` by itself; absent where there was none. */
  setCookies?: readonly string[];
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
    /** `search`: only what this search alone names has failed (one server of many); no other search need wait. */
    readonly reach: 'upstream' | 'search' = 'upstream',
  ) {
    super(reason);
  }
}
