import { fromBinary } from '@bufbuild/protobuf';
import PQueue from 'p-queue';
import { CheckSchema, type Check } from '#contracts';
import { release } from '#credits';
import { AppendConflict, type EventStore } from '#event-store';
import { failpoint } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database, Tx } from '#postgres';
import type { UpstreamError } from '#sources';
import { causeOf, continueTrace, metrics } from '#telemetry';
import { nextDue, originOf } from '../domain/next-due.js';
import { checkReservationOf } from '../read/check-reservation.js';
import { checkMessages } from './check-messages.js';
import { applyProgress, type Progress } from './check-progress.js';
import { lockSearches, settle, type DueSearch, type DueWatch, type SearchMemory } from '../due/due-work.js';
import { runningWatches } from '../due/running-watches.js';

/** Maximum number of watches in one transaction. */
const WATCHES_AT_ONCE = 1_000;
/**
 * Maximum number of watches whose checks are sent to the stream at the same time. All messages of these checks are in
 * memory.
 */
const APPENDS_AT_ONCE = 50;

/** The check of one watch at one tick, ready to be stored in parts. */
export interface WatchChecks {
  search: DueSearch;
  watch: DueWatch;
  /**
   * Builds the parts. Called only when the turn of this watch comes: the checks of a search with very many watches do
   * not fit into memory together.
   */
  parts(): Check[];
  /** The next check is not before this time, if the search itself must wait. */
  notBefore?: number | undefined;
}

/** A check that could not be stored: a failed check is stored in its place. */
export interface Unstorable {
  search: DueSearch;
  error: UpstreamError;
}

/**
 * Stores checks and updates the due work. First the check is appended to the stream; this fails if another replica has
 * already checked the watch. Then one transaction updates the tables. After a crash between these two steps, the next
 * attempt finds the stored check and does not make a second one.
 */
export class CheckRecorder {
  constructor(
    private readonly database: Database,
    private readonly store: EventStore,
    private readonly now: () => number,
  ) {}

  /**
   * @returns the checks that could not be stored. A failed check, which is free, is stored in place of each, and its
   * search waits like after any failure
   */
  async record(
    checks: readonly WatchChecks[],
    memories: readonly SearchMemory[],
    commonGrid: boolean,
  ): Promise<Unstorable[]> {
    const unstorable: Unstorable[] = [];
    // A search can have tens of thousands of watches. The last transaction releases the searches: before it, no other
    // replica is allowed to claim them.
    for (let from = 0; from < checks.length; from += WATCHES_AT_ONCE) {
      const some = checks.slice(from, from + WATCHES_AT_ONCE);
      // The query runs as late as possible. A purge runs twice: if it begins after this query, its second run deletes
      // the check.
      const running = await runningWatches(
        this.database,
        some.map(({ watch }) => watch.watchId),
      );
      const progress = await new PQueue({ concurrency: APPENDS_AT_ONCE }).addAll(
        some
          .filter(({ watch }) => running.has(watch.watchId))
          .map(
            (one) => () =>
              continueTrace(causeOf(one.watch) ?? one.watch.cause, () => this.append(one, commonGrid)),
          ),
      );
      for (const { search, fault } of progress) if (fault) unstorable.push({ search, error: fault });
      failpoint('polling-after-append-before-projection');
      const isLast = from + WATCHES_AT_ONCE >= checks.length;
      const searches = (isLast ? checks : some).map(({ search }) => search);
      await this.database.transaction(async (tx) => {
        await this.apply(tx, progress, searches);
        const gone = some.filter(({ watch }) => !running.has(watch.watchId));
        const failed = progress.filter(({ fault }) => fault);
        await release(
          tx,
          [...gone, ...failed].map(({ search, watch }) => checkReservationOf(search, watch)),
        );
        if (isLast) await settle(tx, searches, withoutUnstorable(memories, unstorable));
      });
    }
    return unstorable;
  }

  private async append(one: WatchChecks, commonGrid: boolean): Promise<Progress> {
    const { search, watch } = one;
    const { parts, messages, fault, retryAt } = checkMessages(one, this.store.maxBytes, this.now());
    const notBefore = retryAt?.getTime() ?? one.notBefore;
    const intervalMs = watch.intervalSeconds * 1000;
    const minIntervalMs = search.minIntervalSeconds * 1000;
    // If our clock is behind that of Postgres, the tick can be in our future. The next tick must be in a later second.
    const from = Math.max(this.now(), watch.tick);
    const next = nextDue(from, intervalMs, minIntervalMs, originOf(search.searchKey, commonGrid));
    const nextDueAt = nextWholeSecond(Math.max(next, notBefore ?? 0));
    const subject = subjectOf('CHECKS', watch.accountId, watch.watchId);
    let seq = watch.checkSeq;
    try {
      for (const { data, msgId } of messages) seq = await this.store.append(subject, data, seq, msgId);
      metrics.checks.add(1, { source: search.source, outcome: parts[0]?.failure?.kind ?? 'completed' });
      const waits = notBefore !== undefined;
      return { search, watch, checks: parts, seq, nextDueAt, waits, ...(fault && { fault }) };
    } catch (error) {
      if (!(error instanceof AppendConflict)) throw error;
      return this.adopt(subject, search, watch, nextDueAt, notBefore !== undefined);
    }
  }

  /**
   * Continues after checks that are on the stream and missing in the tables. Another replica stored them, or an earlier
   * attempt that did not update the tables.
   */
  private async adopt(
    subject: string,
    search: DueSearch,
    watch: DueWatch,
    nextDueAt: number,
    waits: boolean,
  ): Promise<Progress> {
    const stored = await this.store.read('CHECKS', subject, watch.checkSeq);
    const checks = stored.map(({ data }) => fromBinary(CheckSchema, data));
    // If the stream has nothing newer, its retention has deleted what the tables remember, or NATS knows the id of the
    // check from before the clock was set back. So continue from the stream's last message, with another tick.
    const seq = stored.at(-1)?.seq ?? (await this.store.lastSeq('CHECKS', subject));
    const forgotten = stored.length === 0;
    return {
      search,
      watch,
      checks,
      seq,
      nextDueAt: forgotten ? watch.tick + 1000 : nextDueAt,
      waits,
      adopted: true,
      forgotten,
    };
  }

  private async apply(tx: Tx, progress: readonly Progress[], searches: readonly DueSearch[]): Promise<void> {
    await lockSearches(tx, [...new Set(searches.map(({ searchKey }) => searchKey))]);
    await applyProgress(tx, progress);
  }
}

/**
 * Rounds a time up to a whole second, because the table contains whole seconds. If it were rounded down, a check could
 * run before its tick. Then it would not count for that tick, and a second check would follow.
 */
function nextWholeSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/**
 * If a check of a search could not be stored, the search gets the memory after a failed read: the next read must find
 * the same items again.
 */
function withoutUnstorable(
  memories: readonly SearchMemory[],
  unstorable: readonly Unstorable[],
): SearchMemory[] {
  const searches = new Map(unstorable.map(({ search }) => [search.searchKey, search]));
  return memories.map((memory) => {
    const search = searches.get(memory.searchKey);
    return search ? failedMemory(search) : memory;
  });
}

/** Returns what a search remembers after a failed read: its state from before the read, and one more failure. */
export function failedMemory({ searchKey, state, stateAt, failures }: DueSearch): SearchMemory {
  return { searchKey, state, stateAt: new Date(stateAt ?? 0), failures: failures + 1 };
}
