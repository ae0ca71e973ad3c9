import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { failpoint, type Clock } from '#kernel';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { Lane } from '../lanes/lane.js';
import { failedCheck } from './build-checks.js';
import type { CheckRecorder } from './check-recorder.js';
import { claimDue, postpone, releaseLane, releaseSearches, settleIdle, type DueSearch } from './due-work.js';
import { outcomeOf } from './outcome.js';
import { planReads, type PlannedRead } from './read-upstream.js';
import { releaseRead, reserveReads, type ReservedRead } from './reservation.js';
import { seenByAll } from './seen-items.js';

/** Searches that a feed can serve are claimed together, so that one read serves all. */
const FEED_CLAIM = 2000;
/** The first claim of a lane is smaller: after a restart much is due, and the first answer should not wait for all of it. */
const FIRST_CLAIM = 100;
/** Reads of their own that may wait for the lane, as the budget of so many minutes: a claim holds for three. */
const BACKLOG_MINUTES = 1;
/** Whoever has waited longer since the claim is given back: it could run out in the middle of the read. */
const LONGEST_WAIT_MS = 90_000;
/** Billing opens ledgers as soon as it runs: until then nothing is asked for the account. */
const NO_LEDGER_SECONDS = 5;

/** Works through the due searches of one lane while this replica holds it. */
export class LaneWorker {
  private readonly queue: PQueue;
  private readonly abort = new AbortController();
  /** Claimed and reserved for, and not begun. */
  private readonly waiting = new Set<ReservedRead>();
  private finished: Promise<void> = Promise.resolve();
  private hasClaimed = false;
  private hasToldOfLedgers = false;

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
    await this.giveBack(single.slice(room).flatMap(({ searches }) => searches));
    const begun = [...reads.filter(({ fromFeed }) => fromFeed), ...single.slice(0, room)];
    const at = this.clock.now();
    for (const read of await this.reserve(begun, at)) this.enqueue(read, at.getTime());
    return claimed.length;
  }

  private async reserve(reads: readonly PlannedRead[], now: Date): Promise<ReservedRead[]> {
    try {
      const reserved = await reserveReads(this.database, this.lane.connector, reads, now);
      if (reserved.unopened.length > 0 && !this.hasToldOfLedgers) {
        this.hasToldOfLedgers = true;
        const { name: lane } = this.lane;
        this.log.warn({ lane }, 'watches wait for the ledgers of their accounts: has billing been started?');
      }
      await postpone(this.database, reserved.unopened, NO_LEDGER_SECONDS);
      return reserved.reads;
    } catch (error) {
      await this.giveBack(reads.flatMap(({ searches }) => searches));
      throw error;
    }
  }

  private enqueue(read: ReservedRead, claimedAt: number): void {
    this.waiting.add(read);
    const begin = async () => {
      // Stopped reads are given back by `stop`.
      if (!this.waiting.delete(read)) return;
      const late = this.clock.now().getTime() - claimedAt > LONGEST_WAIT_MS;
      await (late ? this.release([read]) : this.carryOut(read));
    };
    void this.queue.add(begin, { priority: read.read.fromFeed ? 1 : 0 });
  }

  /** Gives reads back unread, and what was reserved for them. */
  private async release(reads: readonly ReservedRead[]): Promise<void> {
    for (const one of reads) {
      this.waiting.delete(one);
      await releaseRead(this.database, one).catch((error: unknown) =>
        this.log.error(
          { err: error },
          'credits could not be given back; they are free again when the reservation runs out',
        ),
      );
      await this.giveBack(one.read.searches);
    }
  }

  /** Where that fails, the claim runs out by itself. */
  private async giveBack(searches: readonly DueSearch[]): Promise<void> {
    const keys = searches.map(({ searchKey }) => searchKey);
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

  private async carryOut(reserved: ReservedRead): Promise<void> {
    const { lane, clock, database, log } = this;
    const { read, searches, unpaid } = reserved;
    try {
      failpoint('polling-after-reservation-before-read');
      const answered = searches.length > 0 ? await read.run(searches) : [];
      const outcomes = await Promise.all(answered.map((one) => outcomeOf(one, lane, database, clock, log)));
      const charged = outcomes.flatMap((outcome) => outcome.charged);
      await releaseRead(database, reserved, charged);
      const checks = [...outcomes.flatMap((outcome) => outcome.checks), ...unpaid];
      const memories = outcomes.flatMap((outcome) => outcome.memories);
      if (checks.length > 0) await this.recorder.record(checks, memories, lane.connector.commonGrid);
      // Those whose read was blocked have no check in it, and stay due.
      const told = new Set(checks.map(({ watch }) => watch.searchKey));
      await this.giveBack(read.searches.filter(({ searchKey }) => !told.has(searchKey)));
    } catch (error) {
      this.log.error(
        { err: error, lane: this.lane.name },
        'a check could not be recorded; it is tried again',
      );
      // With what is reserved: some of the checks may have been stored, and the next try has the same ids.
      await this.giveBack(read.searches);
    }
  }
}
