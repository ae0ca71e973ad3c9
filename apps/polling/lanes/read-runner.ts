import { failpoint, type Clock } from '#kernel';
import type { Database } from '#postgres';
import { arriveShared, SpanKind, type Logger } from '#telemetry';
import { waitAfter } from '../domain/backoff.js';
import type { Claims } from '../due/claims.js';
import { postpone, type DueSearch, type SearchMemory } from '../due/due-work.js';
import { runningSearches } from '../due/running-watches.js';
import { releaseRead, type ReservedRead } from '../read/reservation.js';
import type { CheckRecorder, WatchChecks } from '../record/check-recorder.js';
import { outcomeOf } from '../record/outcome.js';
import type { Lane } from './lane.js';

/** Carries out reads whose credits are reserved, and records their checks. */
export class ReadRunner {
  /** The reads that are running. */
  readonly underWay = new Set<ReservedRead>();
  /** How many times in a row the checks of each search could not be recorded. */
  private readonly unrecorded = new Map<string, number>();

  constructor(
    private readonly lane: Lane,
    private readonly database: Database,
    private readonly recorder: CheckRecorder,
    private readonly claims: Claims,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Carries out a read and records its checks. In the trace, the read begins at the time of its claim. The first check
   * of a watch belongs to the trace of the request that created the watch, if that trace is recorded.
   */
  run(reserved: ReservedRead, claimedAt: number): Promise<void> {
    const { source } = this.lane;
    const shared = {
      name: `read ${source}`,
      kind: SpanKind.INTERNAL,
      partName: `check ${source}`,
      attributes: { 'earshot.source': source },
      startTime: claimedAt,
    };
    const watches = [
      ...reserved.searches.flatMap((search) => search.watches),
      ...reserved.unpaid.map(({ watch }) => watch),
    ];
    const causes = new Map(watches.map((watch) => [watch, watch.cause] as const));
    return arriveShared(shared, causes, () => this.readAndRecord(reserved));
  }

  private async readAndRecord(reserved: ReservedRead): Promise<void> {
    const { lane, clock, database, log } = this;
    const { read, searches, prices, unpaid } = reserved;
    this.underWay.add(reserved);
    try {
      failpoint('polling-after-reservation-before-read');
      const wanted = await runningSearches(database, searches);
      const answered = wanted.length > 0 ? await read.run(wanted) : [];
      const outcomes = await Promise.all(
        answered.map((one) => outcomeOf(one, prices, { lane, database, clock, log })),
      );
      const charged = outcomes.flatMap((outcome) => outcome.charged);
      await releaseRead(database, reserved, charged);
      const checks = [...outcomes.flatMap((outcome) => outcome.checks), ...unpaid];
      const memories = outcomes.flatMap((outcome) => outcome.memories);
      if (checks.length > 0) await this.record(checks, memories);
      // Searches without a check are released, for example because their read was blocked, or because none of their
      // watches runs any more.
      const recorded = new Set(checks.map(({ watch }) => watch.searchKey));
      await this.claims.giveBack(read.searches.filter(({ searchKey }) => !recorded.has(searchKey)));
    } catch (error) {
      this.log.error({ err: error, lane: this.lane.name }, 'a check could not be recorded; this is retried');
      // The reservations stay, because some of the checks can have been stored. An attempt at the same tick uses the
      // same reservations. After `putOff` has changed the tick, they stay until they expire.
      await this.putOff(read.searches);
      await this.claims.giveBack(read.searches);
    } finally {
      this.underWay.delete(reserved);
    }
  }

  private async record(checks: readonly WatchChecks[], memories: readonly SearchMemory[]): Promise<void> {
    const unstorable = await this.recorder.record(checks, memories, this.lane.connector.commonGrid);
    for (const { search } of checks) this.unrecorded.delete(search.searchKey);
    for (const { search, error } of unstorable) {
      this.log.error({ lane: this.lane.name, search: search.searchKey }, error.message);
      await this.lane.failed(error, search.searchKey);
    }
  }

  /**
   * Sets when a read is repeated after its checks could not be recorded. The first repeat is immediate, because a store
   * was probably unavailable for a moment. Each further repeat waits longer, to protect the upstream.
   */
  private async putOff(searches: readonly DueSearch[]): Promise<void> {
    for (const { searchKey } of searches)
      this.unrecorded.set(searchKey, (this.unrecorded.get(searchKey) ?? 0) + 1);
    const times = Math.max(...searches.map(({ searchKey }) => this.unrecorded.get(searchKey) ?? 0));
    if (times <= 1) return;
    await this.postpone(searches, waitAfter('server_error', times - 1, undefined, Math.random()) / 1000);
  }

  /** Makes the searches due again after this time. If the statement fails, they stay due. */
  async postpone(searches: readonly DueSearch[], seconds: number): Promise<void> {
    await postpone(
      this.database,
      searches.flatMap(({ watches }) => watches),
      seconds,
    ).catch((error: unknown) =>
      this.log.warn({ err: error, lane: this.lane.name }, 'searches could not be postponed'),
    );
  }
}
