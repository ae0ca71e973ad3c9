import { UpstreamError, type FetchContext, type Fetched } from '#sources';
import type { Clock } from '#kernel';
import { planFetch } from '../domain/fetch-plan.js';
import { LaneBlocked, type Lane } from '../lanes/lane.js';
import type { DueSearch } from '../due/due-work.js';

/** What became of one search's read. */
export type Answer =
  | {
      kind: 'read';
      fetched: Fetched;
      state: Record<string, unknown>;
      readAt: Date;
      windowFrom: Date | undefined;
      /** How far the upstream's clock is known to be ahead of ours, in ms. */
      clockAheadMs: number;
    }
  /** `laneUntil`: until when the whole lane waits because of it. */
  | { kind: 'failed'; error: UpstreamError; at: Date; laneUntil: Date | undefined }
  /** The lane waits: nothing was asked, the search stays due. */
  | { kind: 'blocked' };

/** Searches that one upstream read answered. */
export interface AnsweredSearches {
  searches: readonly DueSearch[];
  answers: Map<string, Answer>;
  /** False: what the connector remembers from this read is not kept. */
  remembers: boolean;
}

/** A read that is planned: for one search, or for all that the feed serves. */
export interface PlannedRead {
  searches: DueSearch[];
  /** One read of the feed serves them all. */
  fromFeed: boolean;
  /** Reads for those of its searches that are handed in, and for the watches in them. */
  run(searches: readonly DueSearch[]): Promise<AnsweredSearches[]>;
}

/** Sources index with a delay: what is published shortly before a read can appear shortly after it. */
const OVERLAP_MS = 5 * 60_000;
/** Stands for the search where one read of the feed serves many. */
const FEED = 'feed';
/** Pages of one read; reaching them is told as a gap. */
const PAGE_CAP = 10;

/** Splits the due searches of a lane into the fewest upstream reads. */
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

/** Tells whether every watch that waits for the search has seen the item before. */
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
    run: async ([asked = search]) => {
      // One instant for all parts: what the first leaves in the state is as new as what the others cover.
      const now = clock.now();
      const answered: AnsweredSearches[] = [];
      let answer: Answer | undefined;
      for (const part of partsOf(asked)) {
        // What did not answer one part is not asked again for the next.
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
 * A first poll takes one page and asks for no past. Watches that have one must not make the others do the same:
 * these would miss what is on later pages, and nobody would know. So each kind has a read of its own.
 */
function partsOf(search: DueSearch): DueSearch[] {
  const others = search.watches.filter(({ coveredUntil }) => coveredUntil !== undefined);
  const firsts = search.watches.filter(({ coveredUntil }) => coveredUntil === undefined);
  return [others, firsts].flatMap((watches) => (watches.length > 0 ? [{ ...search, watches }] : []));
}

/**
 * While the feed is frozen one short read of it asks whether it moves again. Frozen, it answers for every search; once it
 * moves it has answered none of them, and they are read as ever.
 */
function probe(lane: Lane, searches: DueSearch[], clock: Clock, shared: FetchContext['shared']): PlannedRead {
  const since = new Date(clock.now().getTime() - OVERLAP_MS);
  const read = feedRead(lane, searches, clock, shared, { since, pageCap: 1 });
  return {
    ...read,
    run: async (asked) => {
      const answered = await read.run(asked);
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
    run: async (asked) => {
      const { since, pageCap } = probing ?? { since: earliestOf(asked, clock), pageCap: PAGE_CAP };
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
      const answers = new Map(asked.map((search) => [search.searchKey, withWindow(answer, search)]));
      return [{ searches: asked, answers, remembers: true }];
    },
  };
}

function earliestOf(searches: readonly DueSearch[], clock: Clock): Date {
  return new Date(Math.min(...searches.map((search) => sinceOf(search) ?? clock.now().getTime())));
}

/** Each search of a feed read has looked at its own window only; what its connector remembers stays as it was. */
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
  if (lane.stopped || lane.blockedForMs > 0) return { kind: 'blocked' };
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
      clockAheadMs: lane.clockAheadMs,
    };
  } catch (error) {
    // A stopping lane's requests are cut off by ourselves: that is no fault of the upstream's.
    if (error instanceof LaneBlocked || lane.stopped) return { kind: 'blocked' };
    // What a connector did not foresee is still one failed check, not the end of the lane.
    const fault =
      error instanceof UpstreamError
        ? error
        : new UpstreamError(
            'unknown_shape',
            `${lane.source} answered something that could not be understood`,
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
  // A watch that was not served by the last read must not be told "nothing new since".
  const remembered =
    stateAt !== undefined &&
    search.watches.every(({ coveredUntil }) => coveredUntil !== undefined && coveredUntil >= stateAt);
  return {
    http: lane.http,
    match: search.match,
    now,
    intervalSeconds: search.shortestSeconds,
    ...(since === undefined ? {} : { since: new Date(since) }),
    pageCap: PAGE_CAP,
    known,
    state: structuredClone(remembered ? search.state : historyOf(search.state)),
    shared,
    session: lane.session,
  };
}

/** What is known of the upstream itself, whoever saw which read: see `FetchContext.state`. */
function historyOf({ history }: Record<string, unknown>): Record<string, unknown> {
  return history === undefined ? {} : { history };
}

/** The earliest instant that some watch has not looked at; undefined when one of them has its first poll. */
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
  const under = new Map<string, Promise<unknown>>();
  return <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const known = under.get(key) as Promise<T> | undefined;
    if (known) return known;
    const started = run();
    under.set(key, started);
    return started;
  };
}
