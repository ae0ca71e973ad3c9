import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Clock } from '#kernel';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { Claims } from '../due/claims.js';
import { untilNextQuery } from '../due/due-lanes.js';
import type { SharedQuery } from '../due/shared-query.js';
import { postpone, releaseLane, settleIdle, type DueSearch } from '../due/due-work.js';
import { planReads, type PlannedRead } from '../read/read-upstream.js';
import { extendReads, releaseRead, reserveReads, type ReservedRead } from '../read/reservation.js';
import { namesServers, SlowReads } from '../read/slow-reads.js';
import { failedCheck } from '../record/build-checks.js';
import type { CheckRecorder } from '../record/check-recorder.js';
import { seenByAll } from '../record/seen-items.js';
import type { Lane } from './lane.js';
import { ReadRunner } from './read-runner.js';

/**
 * Maximum number of searches in one claim, if one read or request can serve several searches, or if the lane waits and
 * only failed checks are recorded.
 */
const FEED_CLAIM = 2000;
/**
 * The first claim of a lane is smaller: after a restart much is due, and the first result should not wait for all of
 * it.
 */
const FIRST_CLAIM = 100;
/**
 * If one read or request can serve several searches, this limits the separate reads that wait for the lane: to the
 * number of requests that the lane's budget allows in this number of minutes, but at least to the number of concurrent
 * requests. This time must be shorter than `MAX_WAIT_MS`.
 */
const BACKLOG_MINUTES = 1;
/**
 * If a read has waited longer than this after its claim, it is released unread, because its watches can have changed.
 */
const MAX_WAIT_MS = 90_000;
/** How often claims are extended. A claim lasts much longer, so it survives a few failed extensions in a row. */
const EXTEND_MS = 60_000;
/** A watch whose account has no ledger yet is due again after this time. Billing opens the ledger when it runs. */
const NO_LEDGER_SECONDS = 5;
/** A read whose accounts have too many slow reads running is due again after this time. */
const CROWDED_SECONDS = 5;

/** Processes the due searches of one lane while this replica holds it. */
export class LaneWorker {
  private readonly queue: PQueue;
  private readonly abort = new AbortController();
  /** Reads that have a claim and a reservation, and have not started. */
  private readonly waiting = new Set<ReservedRead>();
  private readonly slow = new SlowReads();
  private readonly claims: Claims;
  private readonly runner: ReadRunner;
  private finished: Promise<void> = Promise.resolve();
  private extending?: NodeJS.Timeout;
  private hasLane = false;
  private hasClaimed = false;
  private hasWarnedOfLedgers = false;

  constructor(
    readonly lane: Lane,
    private readonly database: Database,
    private readonly due: SharedQuery,
    private readonly recorder: CheckRecorder,
    private readonly clock: Clock,
    private readonly queryEveryMs: number,
    private readonly log: Logger,
  ) {
    this.queue = new PQueue({ concurrency: lane.concurrency });
    this.claims = new Claims(database, lane.name, log);
    this.runner = new ReadRunner(lane, database, recorder, this.claims, clock, log);
  }

  start(): void {
    this.finished = this.work();
    this.extending = setInterval(() => void this.extendClaims(), EXTEND_MS);
  }

  /**
   * Stops claiming, releases reads that have not started, and waits for running requests. The shutdown of the HTTP
   * client cancels the running requests; then their searches are released too.
   */
  async stop(): Promise<void> {
    this.abort.abort();
    this.lane.stop();
    await this.finished;
    this.queue.clear();
    await this.release([...this.waiting]);
    await this.queue.onIdle();
    await this.slow.onIdle();
    clearInterval(this.extending);
    await this.claims.giveBack([]);
  }

  private async work(): Promise<void> {
    while (!this.abort.signal.aborted) {
      try {
        // The release is retried until it succeeds, before the first claim. Otherwise the searches that the last holder
        // had claimed would wait until their claims expire.
        if (!this.hasLane) await releaseLane(this.database, this.lane.name);
        this.hasLane = true;
        await this.claims.retryReleases();
        if ((await this.claimDue()) === 0) await this.pause(untilNextQuery(this.queryEveryMs));
        this.queue.concurrency = this.lane.concurrency;
        await this.waitForRoom();
      } catch (error) {
        this.log.error({ err: error, lane: this.lane.name }, 'due work could not be claimed');
        await this.pause(this.queryEveryMs);
      }
    }
  }

  /**
   * Waits until more work can be claimed: until no read waits, or, if the source has a feed, until less than half of
   * the maximum number of separate reads wait.
   */
  private async waitForRoom(): Promise<void> {
    const enough = this.lane.connector.feed ? Math.ceil(this.backlog / 2) : 1;
    const { signal } = this.abort;
    if (this.queue.size >= enough && !signal.aborted) {
      const done = new AbortController();
      const stopped = once(signal, 'abort', { signal: done.signal }).catch(() => {});
      await Promise.race([this.queue.onSizeLessThan(enough), stopped]);
      done.abort();
    }
    if (this.queue.size > 0) await this.pause(this.queryEveryMs);
  }

  /** True while no read waits or runs. */
  get isIdle(): boolean {
    return this.waiting.size === 0 && this.runner.underWay.size === 0;
  }

  /**
   * True if due searches are claimed together, because one read or request can serve several of them. False while the
   * lane is probing.
   */
  private get together(): boolean {
    const { feed, commonGrid } = this.lane.connector;
    return !this.lane.isProbing && (feed !== undefined || commonGrid);
  }

  /** Maximum number of separate reads that can be claimed and not started. */
  private get backlog(): number {
    const { concurrency, budget } = this.lane;
    return this.together
      ? Math.max(concurrency, Math.ceil(budget.requestsPerMinute * BACKLOG_MINUTES))
      : concurrency;
  }

  private async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.abort.signal }).catch(() => {});
  }

  /** @returns the number of claimed searches */
  private async claimDue(): Promise<number> {
    const { lane } = this;
    if (lane.budget.blockedForMs === 0 && lane.budget.heldForMs > 0) return 0;
    if (!(await this.due.has(lane.name))) return 0;
    return lane.budget.blockedForMs > 0 ? this.failDueSearches() : this.claim();
  }

  private claim(): Promise<number> {
    const limit = this.hasClaimed ? FEED_CLAIM : FIRST_CLAIM;
    return this.claims.take(this.together ? limit : this.lane.concurrency, {}, async (claimed) => {
      this.hasClaimed ||= claimed.length > 0;
      await this.enqueueReads(await this.withoutIdle(claimed));
    });
  }

  /**
   * Returns the searches that have a due watch. Releases the others (their watches are paused, deleted or postponed),
   * and sets their next due time.
   */
  private async withoutIdle(claimed: readonly DueSearch[]): Promise<DueSearch[]> {
    await settleIdle(
      this.database,
      claimed.filter((search) => search.watches.length === 0),
    );
    return claimed.filter((search) => search.watches.length > 0);
  }

  /** Plans the reads of claimed searches and queues them. If an error is thrown, no read has been queued. */
  private async enqueueReads(due: readonly DueSearch[]): Promise<void> {
    const known = (search: DueSearch) => seenByAll(this.database, search);
    const reads = planReads(this.lane, due, this.clock, known);
    const single = reads.filter(({ fromFeed }) => !fromFeed);
    // If there are more separate reads than are allowed to wait for the lane, the excess reads are released. This or
    // another replica claims their searches later.
    const room = Math.max(1, this.backlog - this.queue.size);
    await this.claims.giveBack(single.slice(room).flatMap(({ searches }) => searches));
    const begun = [...reads.filter(({ fromFeed }) => fromFeed), ...single.slice(0, room)];
    const at = this.clock.now();
    for (const read of await this.reserve(begun, at)) this.enqueue(read, at.getTime());
  }

  private async reserve(reads: readonly PlannedRead[], now: Date): Promise<ReservedRead[]> {
    const reserved = await reserveReads(this.database, this.lane.connector, reads, now);
    if (reserved.unopened.length > 0 && !this.hasWarnedOfLedgers) {
      this.hasWarnedOfLedgers = true;
      const { name: lane } = this.lane;
      this.log.warn({ lane }, 'watches wait for the ledgers of their accounts: is billing running?');
    }
    await postpone(this.database, reserved.unopened, NO_LEDGER_SECONDS);
    return reserved.reads;
  }

  private enqueue(read: ReservedRead, claimedAt: number): void {
    this.waiting.add(read);
    const begin = async () => {
      // `stop` has already released this read.
      if (!this.waiting.delete(read)) return;
      const late = this.clock.now().getTime() - claimedAt > MAX_WAIT_MS;
      if (late) await this.release([read]);
      else if (!namesServers(this.lane.connector, read)) await this.runner.run(read, claimedAt);
      else if (this.slow.mayBegin(read)) await this.slow.holdPlace(read, this.runner.run(read, claimedAt));
      else await this.postponeCrowded(read);
    };
    void this.queue.add(begin, { priority: read.read.fromFeed ? 1 : 0 });
  }

  private async postponeCrowded(reserved: ReservedRead): Promise<void> {
    await this.runner.postpone(reserved.searches, CROWDED_SECONDS);
    await this.release([reserved]);
  }

  /** Releases reads that were not made, with their reservations. */
  private async release(reads: readonly ReservedRead[]): Promise<void> {
    for (const one of reads) {
      this.waiting.delete(one);
      await releaseRead(this.database, one).catch((error: unknown) =>
        this.log.error(
          { err: error },
          'credits could not be released; they are free again when the reservation expires',
        ),
      );
      await this.claims.giveBack(one.read.searches);
    }
  }

  /**
   * Records a failed check, without a request, for searches that are due while the lane waits. Without this check,
   * users would believe that there are no mentions.
   */
  private failDueSearches(): Promise<number> {
    return this.claims.take(FEED_CLAIM, { withState: false }, async (claimed) => {
      const { blockedBy: error, blockedUntil } = this.lane.budget;
      const now = this.clock.now();
      const due = await this.withoutIdle(claimed);
      const checks = due.flatMap((search) =>
        search.watches.map((watch) => ({
          search,
          watch,
          parts: () => [failedCheck(search, watch, error, blockedUntil, now)],
          notBefore: blockedUntil.getTime(),
        })),
      );
      if (checks.length > 0) await this.recorder.record(checks, [], this.lane.connector.commonGrid);
    });
  }

  /**
   * Extends claims and reservations, because a read can take longer than a claim. Without an extension, another replica
   * could repeat the read, and other work could spend the reserved credits.
   */
  private async extendClaims(): Promise<void> {
    try {
      await this.claims.retryReleases();
      await extendReads(this.database, [...this.waiting, ...this.runner.underWay]);
    } catch (error) {
      this.log.error({ err: error, lane: this.lane.name }, 'claims could not be extended');
    }
  }
}
