import { UpstreamError, type FetchContext, type Fetched } from '#sources';
import type { Clock } from '#kernel';
import { OVERLAP_MS } from '../domain/feed-watch.js';
import { planFetch } from '../domain/fetch-plan.js';
import type { Lane } from '../lanes/lane.js';
import { LaneBlocked } from '../lanes/request-budget.js';
import type { DueSearch } from '../due/due-work.js';
import { earliestOf, sinceOf, windowOf } from './read-window.js';

/** The result of one search's read. */
export type Answer =
  | {
      kind: 'read';
      fetched: Fetched;
      state: Record<string, unknown>;
      /**
       * The time until which the read has read: by our clock, or by the upstream's clock if ours is ahead (see
       * `Lane.readTime`). Otherwise the next read would begin after items that the upstream publishes between the two
       * reads.
       */
      readAt: Date;
      windowFrom: Date | undefined;
      /** How far the upstream's clock is ahead of ours, in ms; 0 if it is behind. */
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
      ...windowOf(lane, search, clock),
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
      let readAt: Date | undefined;
      for (const part of partsOf(toRead)) {
        // If one part failed, the upstream gets no request for the next part.
        if (!answer || answer.kind === 'read') {
          const context = contextFor(lane, part, clock, now, await seen(part), shared);
          answer = await read(lane, part.searchKey, context, clock, () =>
            lane.connector.search(part.criteria, context),
          );
          if (answer.kind === 'read') answer.readAt = readAt ??= answer.readAt;
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
  // Reads back to the newest item, because a feed that works again can first show what it hid.
  const since = new Date(lane.shownUntil(clock.now().getTime()) - OVERLAP_MS);
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
      const windows = new Map(searchesNow.map((search) => [search.searchKey, sinceOf(lane, search, clock)]));
      const { since, pageCap } = probing ?? { since: earliestOf(windows.values(), clock), pageCap: PAGE_CAP };
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
      const answers = new Map(
        searchesNow.map((search) => [
          search.searchKey,
          withWindow(answer, search, windows.get(search.searchKey)),
        ]),
      );
      return [{ searches: searchesNow, answers, remembers: true }];
    },
  };
}

/**
 * Returns the result of a read of the feed for one search, with the search's own window and its unchanged connector
 * state.
 */
function withWindow(answer: Answer, search: DueSearch, windowFrom: Date | undefined): Answer {
  return answer.kind === 'read' ? { ...answer, state: search.state, windowFrom } : answer;
}

async function read(
  lane: Lane,
  searchKey: string,
  context: FetchContext,
  clock: Clock,
  ask: () => Promise<Fetched>,
): Promise<Answer> {
  if (lane.stopped || lane.budget.blockedForMs > 0) return { kind: 'blocked' };
  let fetched: Fetched;
  // Only the request is tried: a failure to store what the lane has learned is not a fault of the upstream. It fails the
  // whole read, which is then repeated.
  try {
    fetched = await ask();
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
    return failedRead(lane, fault, searchKey, clock);
  }
  // Our clock can have been set back during the read.
  const readAt = new Date(Math.min(lane.readTime(context.now).getTime(), clock.now().getTime()));
  const frozen = await lane.follow(fetched.items, readAt, searchKey === FEED ? context.since : undefined);
  if (frozen) return failedRead(lane, frozen, searchKey, clock);
  await lane.succeeded();
  return {
    kind: 'read',
    fetched,
    state: context.state,
    readAt,
    windowFrom: context.since,
    clockAheadMs: Math.max(0, lane.budget.clockAheadMs),
  };
}

async function failedRead(
  lane: Lane,
  error: UpstreamError,
  searchKey: string,
  clock: Clock,
): Promise<Answer> {
  return { kind: 'failed', error, at: clock.now(), laneUntil: await lane.failed(error, searchKey) };
}

function contextFor(
  lane: Lane,
  search: DueSearch,
  clock: Clock,
  now: Date,
  known: (itemId: string) => boolean,
  shared: FetchContext['shared'],
): FetchContext {
  const since = sinceOf(lane, search, clock);
  const { stateAt } = search;
  // If the last read did not serve one of the watches, "nothing new after the last read" would be wrong for that watch.
  // After the clock was set back, an earlier read can have a later time.
  const remembered =
    stateAt !== undefined && search.watches.every(({ coveredUntil }) => coveredUntil === stateAt);
  return {
    http: lane.http,
    match: search.match,
    now,
    intervalSeconds: search.minIntervalSeconds,
    ...(since && { since }),
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
