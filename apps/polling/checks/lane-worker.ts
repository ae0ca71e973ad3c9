import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { compile, searchTermsOf } from '#matching';
import type { Clock } from '#kernel';
import type { Database } from '#postgres';
import type { SourceConnector, SourceItem } from '#sources';
import type { Logger } from '#telemetry';
import { waitAfter } from '../domain/backoff.js';
import type { Lane } from '../lanes/lane.js';
import { completedCheck, failedCheck, type MatchedAnswer } from './build-checks.js';
import type { CheckRecorder, SearchMemory, WatchChecks } from './check-recorder.js';
import { claimDue, releaseLane, releaseSearches, settleIdle, type DueSearch } from './due-work.js';
import { planReads, type AnsweredSearches, type Answer, type PlannedRead } from './read-upstream.js';
import { seenItemsOf, seenByAll } from './seen-items.js';

/** Searches that a feed can serve are claimed together, so that one read serves all. */
const FEED_CLAIM = 2000;
/** The first claim of a lane is smaller: after a restart much is due, and the first answer should not wait for all of it. */
const FIRST_CLAIM = 100;
/** Reads of their own that may wait for the lane, as the budget of so many minutes: a claim holds for three. */
const BACKLOG_MINUTES = 1;
/** Whoever has waited longer since the claim is given back: it could run out in the middle of the read. */
const LONGEST_WAIT_MS = 90_000;

/** What a read says of the watches that waited for it. */
interface Outcome {
  checks: WatchChecks[];
  memories: SearchMemory[];
}

/** Works through the due searches of one lane while this replica holds it. */
export class LaneWorker {
  private readonly queue: PQueue;
  private readonly abort = new AbortController();
  /** Claimed, and not begun. */
  private readonly waiting = new Set<PlannedRead>();
  private finished: Promise<void> = Promise.resolve();
  private hasClaimed = false;

  constructor(
    readonly lane: Lane,
    private readonly database: Database,
    private readonly recorder: CheckRecorder,
    private readonly clock: Clock,
    private readonly tickMs: number,
    private readonly log: Logger,
  ) {
    this.queue = new PQueue({ concurrency: lane.concurrency });
  }

  start(): void {
    this.finished = this.work();
  }

  /**
   * Claims no more, gives back what has not begun, and waits for the requests under way; whoever closes the door
   * cuts these off, and their searches are given back too.
   */
  async stop(): Promise<void> {
    this.abort.abort();
    this.lane.stop();
    await this.finished;
    this.queue.clear();
    await this.release([...this.waiting]);
    await this.queue.onIdle();
  }

  private async work(): Promise<void> {
    await releaseLane(this.database, this.lane.name).catch((error: unknown) =>
      this.log.error({ err: error }, 'lane'),
    );
    while (!this.abort.signal.aborted) {
      try {
        const { blockedForMs, heldForMs } = this.lane;
        const claimed = blockedForMs > 0 ? await this.tellBlocked() : heldForMs > 0 ? 0 : await this.claim();
        if (claimed === 0) await this.pause(this.tickMs);
        this.queue.concurrency = this.lane.concurrency;
        await this.room();
      } catch (error) {
        this.log.error({ err: error, lane: this.lane.name }, 'due work could not be taken');
        await this.pause(this.tickMs);
      }
    }
  }

  /**
   * Waits until more work may be taken: when nothing waits any more. Where a feed serves most searches the next of
   * them do not wait for the few with a read of their own, unless there are too many of those.
   */
  private async room(): Promise<void> {
    const enough = this.lane.connector.feed ? Math.ceil(this.backlog / 2) : 1;
    const { signal } = this.abort;
    if (this.queue.size >= enough && !signal.aborted) {
      const done = new AbortController();
      const stopped = once(signal, 'abort', { signal: done.signal }).catch(() => {});
      await Promise.race([this.queue.onSizeLessThan(enough), stopped]);
      done.abort();
    }
    if (this.queue.size > 0) await this.pause(this.tickMs);
  }

  /** One read for many, or requests in common: what is due together is claimed together. */
  private get together(): boolean {
    const { feed, commonGrid } = this.lane.connector;
    return !this.lane.isProbing && (feed !== undefined || commonGrid);
  }

  /** How many searches with a read of their own may be claimed and not begun. */
  private get backlog(): number {
    const { concurrency, requestsPerMinute } = this.lane;
    return this.together
      ? Math.max(concurrency, Math.ceil(requestsPerMinute * BACKLOG_MINUTES))
      : concurrency;
  }

  private async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.abort.signal }).catch(() => {});
  }

  private async claim(): Promise<number> {
    const limit = this.hasClaimed ? FEED_CLAIM : FIRST_CLAIM;
    const claimed = await claimDue(
      this.database,
      this.lane.name,
      this.together ? limit : this.lane.concurrency,
    );
    this.hasClaimed ||= claimed.length > 0;
    const idle = claimed.filter((search) => search.watches.length === 0);
    await settleIdle(
      this.database,
      idle.map((search) => search.searchKey),
    );
    const due = claimed.filter((search) => search.watches.length > 0);
    const known = (search: DueSearch) => seenByAll(this.database, search);
    const reads = planReads(this.lane, due, this.clock, known);
    const single = reads.filter(({ fromFeed }) => !fromFeed);
    // More than the budget allows while a claim holds: others, or we later, take them up when there is time.
    const room = Math.max(1, this.backlog - this.queue.size);
    await this.release(single.slice(room));
    const at = this.clock.now().getTime();
    for (const read of reads.filter(({ fromFeed }) => fromFeed)) this.enqueue(read, at, 1);
    for (const read of single.slice(0, room)) this.enqueue(read, at, 0);
    return claimed.length;
  }

  private enqueue(read: PlannedRead, claimedAt: number, priority: number): void {
    this.waiting.add(read);
    const begin = async () => {
      // Stopped reads are given back by `stop`.
      if (!this.waiting.delete(read)) return;
      const late = this.clock.now().getTime() - claimedAt > LONGEST_WAIT_MS;
      await (late ? this.release([read]) : this.carryOut(read));
    };
    void this.queue.add(begin, { priority });
  }

  /** Gives reads back unread; where that fails, the claim runs out by itself. */
  private async release(reads: readonly PlannedRead[]): Promise<void> {
    for (const read of reads) this.waiting.delete(read);
    const keys = reads.flatMap(({ searches }) => searches.map(({ searchKey }) => searchKey));
    if (keys.length === 0) return;
    await releaseSearches(this.database, keys).catch((error: unknown) =>
      this.log.error({ err: error, lane: this.lane.name }, 'searches could not be given back'),
    );
  }

  /** Searches that come due while the lane waits fail without a request: silence would look like "no mentions". */
  private async tellBlocked(): Promise<number> {
    const claimed = await claimDue(this.database, this.lane.name, FEED_CLAIM, false);
    const { blockedBy: error, blockedUntil } = this.lane;
    const now = this.clock.now();
    const checks = claimed.flatMap((search) =>
      search.watches.map((watch) => ({
        search,
        watch,
        parts: () => [failedCheck(search, watch, error, blockedUntil, now)],
        notBefore: blockedUntil.getTime(),
      })),
    );
    if (checks.length > 0) await this.recorder.record(checks, [], this.lane.connector.commonGrid);
    const idle = claimed.filter((search) => search.watches.length === 0);
    await settleIdle(
      this.database,
      idle.map((search) => search.searchKey),
    );
    return claimed.length;
  }

  private async carryOut(read: PlannedRead): Promise<void> {
    try {
      const answered = await read.run();
      const outcomes = await Promise.all(answered.map((one) => this.outcomeOf(one)));
      // Watches whose read was blocked have no check in it, and stay due.
      const checks = outcomes.flatMap((outcome) => outcome.checks);
      const memories = outcomes.flatMap((outcome) => outcome.memories);
      if (checks.length === 0) return await this.release([read]);
      await this.recorder.record(checks, memories, this.lane.connector.commonGrid);
    } catch (error) {
      this.log.error(
        { err: error, lane: this.lane.name },
        'a check could not be recorded; it is tried again',
      );
      await this.release([read]);
    }
  }

  private async outcomeOf({ searches, answers, remembers }: AnsweredSearches): Promise<Outcome> {
    const finishedAt = this.clock.now();
    const checks: WatchChecks[] = [];
    const memories: SearchMemory[] = [];
    const matched = matchAll(searches, answers, this.lane.connector);
    const seen = await seenItemsOf(this.database, searches, matched);
    for (const search of searches) {
      const answer = answers.get(search.searchKey);
      if (answer?.kind === 'read') {
        const found = matched.get(search.searchKey) ?? [];
        for (const watch of search.watches)
          checks.push({
            search,
            watch,
            parts: () => completedCheck(search, watch, answer, found, seen(watch.watchId), finishedAt),
          });
        memories.push({
          searchKey: search.searchKey,
          state: answer.state,
          stateAt: answer.readAt,
          failures: 0,
        });
      } else if (answer?.kind === 'failed') {
        const { error, at, laneUntil } = answer;
        const failures = search.failures + 1;
        const retryAt =
          laneUntil ??
          new Date(at.getTime() + waitAfter(error.kind, failures, error.retryAfterMs, Math.random()));
        this.log.warn({ lane: this.lane.name, kind: error.kind, retryAt }, error.message);
        for (const watch of search.watches)
          checks.push({
            search,
            watch,
            parts: () => [failedCheck(search, watch, error, retryAt, finishedAt)],
            notBefore: retryAt.getTime(),
          });
        memories.push({
          searchKey: search.searchKey,
          state: search.state,
          stateAt: new Date(search.stateAt ?? 0),
          failures,
        });
      }
    }
    return { checks, memories: remembers ? memories : [] };
  }
}

/** The items that each search matches: all searches of a read in one pass over each item. */
function matchAll(
  searches: readonly DueSearch[],
  answers: ReadonlyMap<string, Answer>,
  { hasSearch, matchesUpstream }: SourceConnector,
): Map<string, MatchedAnswer[]> {
  const matched = new Map<string, MatchedAnswer[]>();
  if (matchesUpstream) {
    for (const [key, answer] of answers)
      if (answer.kind === 'read')
        matched.set(
          key,
          answer.fetched.items.map((item) => ({ item, matches: [] })),
        );
    return matched;
  }
  const matcher = compile(
    searches.map((search) => {
      const terms = searchTermsOf(search.searchKey, search.criteria);
      return terms.mode === 'platform' && !hasSearch ? { ...terms, mode: 'word' } : terms;
    }),
  );
  const items = new Map<string, SourceItem>();
  for (const answer of answers.values())
    if (answer.kind === 'read') for (const item of answer.fetched.items) items.set(item.itemId, item);
  for (const item of items.values())
    for (const { key, matches } of matcher.match(item)) {
      const found = matched.get(key);
      if (found) found.push({ item, matches });
      else matched.set(key, [{ item, matches }]);
    }
  return matched;
}
