import { UpstreamError, type FetchContext, type Fetched } from '#sources';
import type { Clock } from '#kernel';
import { planFetch } from '../domain/fetch-plan.js';
import type { Lane } from '../lanes/lane.js';
import { LaneBlocked } from '../lanes/request-budget.js';
import type { DueSearch } from '../due/due-work.js';

/** The result of one search's read. */
export type Answer =
  | {
      kind: 'read';
      fetched: Fetched;
      state: Record<string, unknown>;
      readAt: Date;
      windowFrom: Date | undefined;
      /** See `RequestBudget.clockAheadMs`. */
      clockAheadMs: number;
    }
  /** `laneUntil`: the time until which the whole lane waits because of the failure. */
  | { kind: 'failed'; error: UpstreamError; at: Date; laneUntil: Date | undefined }
  /** The lane waits or stops: the search was not read, and stays due. */
  | { kind: 'blocked' };

/** Searches that one upstream read has served. */
export interface AnsweredSearches {
  searches: readonly DueSearch[];
  answers: Map<string, Answer>;
  /** False if the connector's state after this read is not stored. */
  remembers: boolean;
}

/** A planned read: for one search, or for all searches that the feed serves. */
export interface PlannedRead {
  searches: DueSearch[];
  /** True if one read of the feed serves all these searches. */
  fromFeed: boolean;
  /** Makes the read, for the given searches and the watches in them. */
  run(searches: readonly DueSearch[]): Promise<AnsweredSearches[]>;
}

/**
 * The period of each read begins this time before the end of the previous period, because sources show items with a
 * delay: an item that was published shortly before a read can appear shortly after the read.
 */
const OVERLAP_MS = 5 * 60_000;
/** Used as the search key of a read of the feed. */
const FEED = 'feed';
/** Maximum number of pages of one read. If the read needs more pages, the check reports a gap. */
const PAGE_CAP = 10;

/**
 * Splits the due searches of a lane into reads that need the fewest upstream requests: see `planFetch`. While the feed
 * is frozen, returns only a read that tests the feed: see `probe`.
 */
export function planReads(
  lane: Lane,
  due: readonly DueSearch[],
  clock: Clock,
  seen: SeenItems,
): PlannedRead[] {
  const { connector } = lane;
  const shared = sharedReads();
  if (lane.isFrozen && connector.feed && due.length > 0) return [probe(lane, [...due], clock, shared)];
  const byKey = new Map(due.map((search) => [search.searchKey, search]));
  const plan = planFetch(
    due.map((search) => ({
      searchKey: search.searchKey,
      requests: connector.requestsPerSearch(search.criteria),
      feedable: search.match !== 'platform' && (connector.feed?.serves?.(search.criteria) ?? true),
      ...windowOf(search, clock),
    })),
    connector.feed ? (seconds) => connector.feed?.pagesFor(seconds) ?? Infinity : undefined,
  );
  const reads = plan.single.flatMap((key) => {
    const search = byKey.get(key);
    return search ? [singleRead(lane, search, clock, seen, shared)] : [];
  });
  const fed = plan.feed.flatMap((key) => byKey.get(key) ?? []);
  return fed.length > 0 ? [feedRead(lane, fed, clock, shared), ...reads] : reads;
}

/** Returns a function that returns whether every due watch of the search has already seen an item. */
export type SeenItems = (search: DueSearch) => Promise<(itemId: string) => boolean>;

function singleRead(
  lane: Lane,
  search: DueSearch,
  clock: Clock,
  seen: SeenItems,
  shared: FetchContext['shared'],
): PlannedRead {
  return {
    searches: [search],
    fromFeed: false,
    run: async ([toRead = search]) => {
      // All parts use the same instant, so that the state of the first part is as new as the window of the other part.
      const now = clock.now();
      const answered: AnsweredSearches[] = [];
      let answer: Answer | undefined;
      for (const part of partsOf(toRead)) {
        // If one part failed, the upstream gets no request for the next part.
        if (!answer || answer.kind === 'read') {
          const context = contextFor(lane, part, now, await seen(part), shared);
          answer = await read(lane, part.searchKey, context, clock, () =>
            lane.connector.search(part.criteria, context),
          );
        }
        const answers = new Map([[part.searchKey, answer]]);
        answered.push({ searches: [part], answers, remembers: answered.length === 0 });
      }
      return answered;
    },
  };
}

/**
 * Splits a search into the watches that have a first check and the others, because each kind needs a separate read. A
 * read for first checks reads only one page of the newest items, so the other watches would miss the items of later
 * pages.
 */
function partsOf(search: DueSearch): DueSearch[] {
  const others = search.watches.filter(({ coveredUntil }) => coveredUntil !== undefined);
  const firsts = search.watches.filter(({ coveredUntil }) => coveredUntil === undefined);
  return [others, firsts].flatMap((watches) => (watches.length > 0 ? [{ ...search, watches }] : []));
}

/**
 * Returns a short read that tests whether a frozen feed shows new items. If the feed stays frozen, the failure applies
 * to every search. Otherwise all searches stay due and are read as usual.
 */
function probe(lane: Lane, searches: DueSearch[], clock: Clock, shared: FetchContext['shared']): PlannedRead {
  const since = new Date(clock.now().getTime() - OVERLAP_MS);
  const read = feedRead(lane, searches, clock, shared, { since, pageCap: 1 });
  return {
    ...read,
    run: async (searchesNow) => {
      const answered = await read.run(searchesNow);
      return lane.isFrozen ? answered : [];
    },
  };
}

function feedRead(
  lane: Lane,
  searches: DueSearch[],
  clock: Clock,
  shared: FetchContext['shared'],
  probing?: { since: Date; pageCap: number },
): PlannedRead {
  return {
    searches,
    fromFeed: true,
    run: async (searchesNow) => {
      const { since, pageCap } = probing ?? { since: earliestOf(searchesNow, clock), pageCap: PAGE_CAP };
      const context: FetchContext = {
        http: lane.http,
        match: 'word',
        now: clock.now(),
        since,
        pageCap,
        known: () => false,
        state: {},
        shared,
        session: lane.session,
      };
      const feed = lane.connector.feed;
      if (!feed) throw new Error(`${lane.source} has no feed`);
      const answer = await read(lane, FEED, context, clock, () => feed.read(since, context));
      const answers = new Map(searchesNow.map((search) => [search.searchKey, withWindow(answer, search)]));
      return [{ searches: searchesNow, answers, remembers: true }];
    },
  };
}

function earliestOf(searches: readonly DueSearch[], clock: Clock): Date {
  return new Date(Math.min(...searches.map((search) => sinceOf(search) ?? clock.now().getTime())));
}

/** Returns the result of a feed read for one search, with the search's own window and its unchanged connector state. */
function withWindow(answer: Answer, search: DueSearch): Answer {
  if (answer.kind !== 'read') return answer;
  const from = sinceOf(search);
  return { ...answer, state: search.state, windowFrom: from === undefined ? undefined : new Date(from) };
}

async function read(
  lane: Lane,
  searchKey: string,
  context: FetchContext,
  clock: Clock,
  ask: () => Promise<Fetched>,
): Promise<Answer> {
  if (lane.stopped || lane.budget.blockedForMs > 0) return { kind: 'blocked' };
  try {
    const fetched = await ask();
    await lane.follow(fetched.items, searchKey === FEED);
    await lane.succeeded();
    return {
      kind: 'read',
      fetched,
      state: context.state,
      readAt: context.now,
      windowFrom: context.since,
      clockAheadMs: lane.budget.clockAheadMs,
    };
  } catch (error) {
    // When a lane stops, its requests are cancelled. This is not a fault of the upstream.
    if (error instanceof LaneBlocked || lane.stopped) return { kind: 'blocked' };
    // An error that a connector does not expect makes the checks of this read fail, but does not stop the lane.
    const fault =
      error instanceof UpstreamError
        ? error
        : new UpstreamError(
            'unknown_shape',
            `${lane.source} returned something that could not be understood`,
          );
    return { kind: 'failed', error: fault, at: clock.now(), laneUntil: await lane.failed(fault, searchKey) };
  }
}

function contextFor(
  lane: Lane,
  search: DueSearch,
  now: Date,
  known: (itemId: string) => boolean,
  shared: FetchContext['shared'],
): FetchContext {
  const since = sinceOf(search);
  const { stateAt } = search;
  // If the last read did not serve one of the watches, "nothing new after the last read" would be wrong for that watch.
  const remembered =
    stateAt !== undefined &&
    search.watches.every(({ coveredUntil }) => coveredUntil !== undefined && coveredUntil >= stateAt);
  return {
    http: lane.http,
    match: search.match,
    now,
    intervalSeconds: search.minIntervalSeconds,
    ...(since === undefined ? {} : { since: new Date(since) }),
    pageCap: PAGE_CAP,
    known,
    state: structuredClone(remembered ? search.state : historyOf(search.state)),
    shared,
    session: lane.session,
  };
}

/**
 * Returns the part of a search's state that describes the upstream itself. This part does not depend on the watches
 * that a read served: see `FetchContext.state`.
 */
function historyOf({ history }: Record<string, unknown>): Record<string, unknown> {
  return history === undefined ? {} : { history };
}

/**
 * Returns the time from which a search must be read: the time up to which all its due watches have read, minus
 * `OVERLAP_MS`. Undefined if one of these watches has its first check.
 */
function sinceOf(search: DueSearch): number | undefined {
  let since = Infinity;
  for (const { coveredUntil } of search.watches) {
    if (coveredUntil === undefined) return undefined;
    since = Math.min(since, coveredUntil);
  }
  return Number.isFinite(since) ? since - OVERLAP_MS : undefined;
}

function windowOf(search: DueSearch, clock: Clock): { windowSeconds?: number } {
  const since = sinceOf(search);
  return since === undefined ? {} : { windowSeconds: (clock.now().getTime() - since) / 1000 };
}

function sharedReads(): FetchContext['shared'] {
  const begun = new Map<string, Promise<unknown>>();
  return <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const known = begun.get(key) as Promise<T> | undefined;
    if (known) return known;
    const started = run();
    begun.set(key, started);
    return started;
  };
}
