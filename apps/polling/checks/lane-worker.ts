import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { compile, searchTermsOf } from '#matching';
import type { Clock } from '#kernel';
import type { Database } from '#postgres';
import type { SourceItem } from '#sources';
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

/** What a read says of the watches that waited for it. */
interface Outcome {
  checks: WatchChecks[];
  memories: SearchMemory[];
}

/** Works through the due searches of one lane while this replica holds it. */
export class LaneWorker {
  private readonly queue: PQueue;
  private readonly abort = new AbortController();
  private finished: Promise<void> = Promise.resolve();

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

  /** Claims no more and waits for the reads under way. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.finished;
    await this.queue.onIdle();
  }

  private async work(): Promise<void> {
    await releaseLane(this.database, this.lane.name).catch((error: unknown) =>
      this.log.error({ err: error }, 'lane'),
    );
    while (!this.abort.signal.aborted) {
      try {
        const claimed = this.lane.blockedForMs > 0 ? await this.tellBlocked() : await this.claim();
        if (claimed === 0) await this.pause();
        this.queue.concurrency = this.lane.concurrency;
        await this.queue.onSizeLessThan(1);
      } catch (error) {
        this.log.error({ err: error, lane: this.lane.name }, 'due work could not be taken');
        await this.pause();
      }
    }
  }

  private async pause(): Promise<void> {
    await wait(this.tickMs, undefined, { signal: this.abort.signal }).catch(() => {});
  }

  private async claim(): Promise<number> {
    const limit =
      this.lane.connector.commonGrid && this.lane.concurrency > 1 ? FEED_CLAIM : this.lane.concurrency;
    const claimed = await claimDue(this.database, this.lane.name, limit);
    const idle = claimed.filter((search) => search.watches.length === 0);
    await settleIdle(
      this.database,
      idle.map((search) => search.searchKey),
    );
    const due = claimed.filter((search) => search.watches.length > 0);
    const known = (search: DueSearch) => seenByAll(this.database, search);
    for (const read of planReads(this.lane, due, this.clock, known))
      void this.queue.add(() => this.carryOut(read));
    return claimed.length;
  }

  /** Searches that come due while the lane waits fail without a request: silence would look like "no mentions". */
  private async tellBlocked(): Promise<number> {
    const claimed = await claimDue(this.database, this.lane.name, FEED_CLAIM);
    const { blockedBy: error, blockedUntil } = this.lane;
    const now = this.clock.now();
    const checks = claimed.flatMap((search) =>
      search.watches.map((watch) => ({
        search,
        watch,
        parts: [failedCheck(search, watch, error, blockedUntil, now)],
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
    const keys = read.searches.map((search) => search.searchKey);
    try {
      const answered = await read.run();
      const outcomes = await Promise.all(answered.map((one) => this.outcomeOf(one)));
      // Watches whose read was blocked have no check in it, and stay due.
      const checks = outcomes.flatMap((outcome) => outcome.checks);
      const memories = outcomes.flatMap((outcome) => outcome.memories);
      if (checks.length === 0) return await releaseSearches(this.database, keys);
      await this.recorder.record(checks, memories, this.lane.connector.commonGrid);
    } catch (error) {
      this.log.error(
        { err: error, lane: this.lane.name },
        'a check could not be recorded; it is tried again',
      );
      await releaseSearches(this.database, keys).catch(() => {});
    }
  }

  private async outcomeOf({ searches, answers, remembers }: AnsweredSearches): Promise<Outcome> {
    const finishedAt = this.clock.now();
    const checks: WatchChecks[] = [];
    const memories: SearchMemory[] = [];
    const matched = matchAll(searches, answers, this.lane.connector.hasSearch);
    const seen = await seenItemsOf(this.database, searches, matched);
    for (const search of searches) {
      const answer = answers.get(search.searchKey);
      if (answer?.kind === 'read') {
        const found = matched.get(search.searchKey) ?? [];
        for (const watch of search.watches)
          checks.push({
            search,
            watch,
            parts: completedCheck(search, watch, answer, found, seen(watch.watchId), finishedAt),
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
            parts: [failedCheck(search, watch, error, retryAt, finishedAt)],
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
  hasSearch: boolean,
): Map<string, MatchedAnswer[]> {
  const matched = new Map<string, MatchedAnswer[]>();
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
