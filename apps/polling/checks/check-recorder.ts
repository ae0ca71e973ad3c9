import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { CheckSchema, type Check } from '#contracts';
import { holdAdopted, holdUntilCharged, release } from '#credits';
import { AppendConflict, type EventStore } from '#event-store';
import { failpoint } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database, Tx } from '#postgres';
import { metrics } from '#telemetry';
import { nextDue, originOf } from '../domain/schedule.js';
import { checkHoldOf } from './check-hold.js';
import { lockSearches, runningOf, settle, type DueSearch, type DueWatch } from './due-work.js';

/** What one transaction moves on, and what is on its way to the stream at once. */
const WATCHES_AT_ONCE = 1_000;

/** The checks of one watch's tick, ready to be stored. */
export interface WatchChecks {
  search: DueSearch;
  watch: DueWatch;
  /** Builds them, when their turn has come: of a search with very many watches not all fit into memory at once. */
  parts(): Check[];
  /** Not before this instant again, where the search itself has to wait. */
  notBefore?: number | undefined;
}

/** What a search remembers after a read. */
export interface SearchMemory {
  searchKey: string;
  state: Record<string, unknown>;
  stateAt: Date;
  failures: number;
}

/** What the tables are told of one watch. */
interface Progress {
  search: DueSearch;
  watch: DueWatch;
  checks: Check[];
  seq: number;
  nextDueAt: number;
  /** The search itself has to wait until then, whatever the interval. */
  waits: boolean;
  /** The checks were stored by somebody else. */
  adopted?: boolean;
  /** The stream has forgotten what the tables remember: `seq` may be behind them. */
  forgotten?: boolean;
}

/**
 * Stores checks and moves the due work on. The stream comes first, on the condition that nobody else has checked
 * the watch; the tables follow in one transaction. After a crash between the two the next attempt finds the stored
 * check instead of making another.
 */
export class CheckRecorder {
  constructor(
    private readonly database: Database,
    private readonly store: EventStore,
    private readonly now: () => number,
  ) {}

  async record(
    checks: readonly WatchChecks[],
    memories: readonly SearchMemory[],
    commonGrid: boolean,
  ): Promise<void> {
    // A search may have tens of thousands of watches. It is given back with the last of them: until then nobody
    // else may take it up.
    for (let from = 0; from < checks.length; from += WATCHES_AT_ONCE) {
      const some = checks.slice(from, from + WATCHES_AT_ONCE);
      // The check of a watch that went meanwhile would be kept, and charged, although its keyword rests, or was purged. So
      // this is asked last: what is appended in the moment after it is there for the purge's second pass.
      const isRunning = await runningOf(
        this.database,
        some.map(({ watch }) => watch.watchId),
      );
      const progress = await Promise.all(
        some.filter(({ watch }) => isRunning(watch.watchId)).map((one) => this.append(one, commonGrid)),
      );
      failpoint('polling-after-append-before-projection');
      const isLast = from + WATCHES_AT_ONCE >= checks.length;
      const searches = (isLast ? checks : some).map(({ search }) => search);
      await this.database.transaction(async (tx) => {
        await this.apply(tx, progress, searches);
        const gone = some.filter(({ watch }) => !isRunning(watch.watchId));
        await release(
          tx,
          gone.map(({ search, watch }) => checkHoldOf(search, watch)),
        );
        if (isLast) await this.giveBack(tx, memories, searches);
      });
    }
  }

  private async append(
    { search, watch, parts: build, notBefore }: WatchChecks,
    commonGrid: boolean,
  ): Promise<Progress> {
    const parts = build();
    const intervalMs = watch.intervalSeconds * 1000;
    const shortestMs = search.shortestSeconds * 1000;
    const next = nextDue(this.now(), intervalMs, shortestMs, originOf(search.searchKey, commonGrid));
    const nextDueAt = Math.max(next, notBefore ?? 0);
    const subject = subjectOf('CHECKS', watch.accountId, watch.watchId);
    let seq = watch.checkSeq;
    try {
      for (const part of parts)
        seq = await this.store.append(
          subject,
          toBinary(CheckSchema, part),
          seq,
          `${part.checkId}:${part.part}`,
        );
      metrics.checks.inc({ source: search.source, outcome: parts[0]?.failure?.kind ?? 'completed' });
      return { search, watch, checks: parts, seq, nextDueAt, waits: notBefore !== undefined };
    } catch (error) {
      if (!(error instanceof AppendConflict)) throw error;
      return this.adopt(subject, search, watch, nextDueAt, notBefore !== undefined);
    }
  }

  /** Somebody (an earlier life of ours, or a replica that took over) has stored checks that the tables lack. */
  private async adopt(
    subject: string,
    search: DueSearch,
    watch: DueWatch,
    nextDueAt: number,
    waits: boolean,
  ): Promise<Progress> {
    const stored = await this.store.read('CHECKS', subject, watch.checkSeq);
    const checks = stored.map(({ data }) => fromBinary(CheckSchema, data));
    // Nothing newer is there: the stream has forgotten what the tables remember (retention); begin from what it has.
    const seq = stored.at(-1)?.seq ?? (await this.store.lastSeq('CHECKS', subject));
    const forgotten = stored.length === 0;
    return {
      search,
      watch,
      checks,
      seq,
      nextDueAt: forgotten ? watch.tick : nextDueAt,
      waits,
      adopted: true,
      forgotten,
    };
  }

  private async apply(tx: Tx, progress: readonly Progress[], searches: readonly DueSearch[]): Promise<void> {
    await lockSearches(tx, [...new Set(searches.map(({ searchKey }) => searchKey))]);
    await keepHolds(tx, progress);
    await rememberItems(tx, progress);
    await moveWatches(tx, progress);
  }

  private async giveBack(
    tx: Tx,
    memories: readonly SearchMemory[],
    searches: readonly DueSearch[],
  ): Promise<void> {
    await tx.query(
      `UPDATE upstream_searches s SET state = m.state, state_at = m.state_at, failures = m.failures
       FROM unnest($1::text[], $2::jsonb[], $3::timestamptz[], $4::int[]) AS m (search_key, state, state_at, failures)
       WHERE s.search_key = m.search_key`,
      [
        memories.map((memory) => memory.searchKey),
        memories.map((memory) => JSON.stringify(memory.state)),
        memories.map((memory) => memory.stateAt),
        memories.map((memory) => memory.failures),
      ],
    );
    await settle(tx, searches);
  }
}

/**
 * What was reserved for the stored checks is kept until billing charges them, however late it is. For a check that
 * somebody else had stored before, the charge may have come before the reservation; or, where that one failed or is
 * another's, nothing needs the reservation.
 */
async function keepHolds(tx: Tx, progress: readonly Progress[]): Promise<void> {
  const stored = progress.filter(({ adopted }) => !adopted).flatMap(({ checks }) => checks.filter(isCharged));
  const adopted = progress.filter((one) => one.adopted);
  const found = adopted.flatMap(({ checks }) => checks.filter(isCharged));
  const foundIds = new Set(found.map(({ checkId }) => checkId));
  const own = adopted.map(({ search, watch }) => checkHoldOf(search, watch));
  // This one locks balances: it comes before what locks reservations.
  await holdAdopted(
    tx,
    found.map(({ checkId, accountId, costCredits }) => ({
      holdId: checkId,
      accountId,
      credits: costCredits,
    })),
  );
  await release(
    tx,
    own.filter(({ holdId }) => !foundIds.has(holdId)),
  );
  await holdUntilCharged(
    tx,
    stored.map(({ checkId }) => checkId),
  );
}

/** Checks of the time when nothing was charged state a cost, but no price book. */
function isCharged({ failure, costCredits, priceBookVersion }: Check): boolean {
  return !failure && costCredits > 0 && priceBookVersion !== '';
}

/**
 * An item was seen when its check's window ended. So the items of a check that is not whole, which moves no window,
 * are dated after `covered_until`: they are not reported again, but no read takes them for the end of what is new.
 */
async function rememberItems(tx: Tx, progress: readonly Progress[]): Promise<void> {
  const watchIds: string[] = [];
  const itemIds: string[] = [];
  const seenAt: string[] = [];
  for (const { watch, checks } of progress)
    for (const check of checks)
      for (const id of [...check.items.map(({ item }) => item?.itemId ?? ''), ...check.rememberedItemIds]) {
        watchIds.push(watch.watchId);
        itemIds.push(id);
        seenAt.push(check.windowTo || check.finishedAt);
      }
  if (itemIds.length === 0) return;
  await tx.query(
    `INSERT INTO seen_items (watch_id, item_id, seen_at)
     SELECT watch_id, item_id, seen_at
     FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS i (watch_id, item_id, seen_at)
     WHERE EXISTS (SELECT 1 FROM watch_schedule w WHERE w.watch_id = i.watch_id)
     ON CONFLICT DO NOTHING`,
    [watchIds, itemIds, seenAt],
  );
}

/**
 * A check whose last part was never stored (a crash between two) moves no window: what was in the parts that are
 * missing is found by the next check.
 */
function isWhole(check: Check, stored: readonly Check[]): boolean {
  return stored.some(({ checkId, part, parts }) => checkId === check.checkId && part === parts);
}

/**
 * A watch never goes back: whoever recorded a newer check meanwhile has moved it on. And where its interval was
 * changed while the check was under way, the next tick keeps to the new one.
 */
async function moveWatches(tx: Tx, progress: readonly Progress[]): Promise<void> {
  const rows = progress.map(({ watch, checks, seq, nextDueAt, waits, forgotten }) => {
    const last = checks.at(-1);
    const completed = checks.filter((check) => !check.failure && isWhole(check, checks));
    const baseline = completed.find((check) => check.baseline);
    return {
      watchId: watch.watchId,
      seq,
      // The sequence that the row may have at most.
      upTo: forgotten ? Math.max(seq, watch.checkSeq) : seq,
      // Null: the tick stands whatever the interval.
      interval: waits ? null : watch.intervalSeconds,
      nextDueAt: new Date(nextDueAt),
      baselineAt: baseline ? baseline.windowTo : null,
      coveredUntil: completed.at(-1)?.windowTo || null,
      checkedAt: last?.finishedAt ?? null,
      status: last ? (last.failure ? 'failed' : 'completed') : null,
    };
  });
  await tx.query(
    `UPDATE watch_schedule w SET
       next_due_at = CASE WHEN w.interval_seconds <> p.interval_seconds
         THEN LEAST(p.next_due_at, now() + make_interval(secs => w.interval_seconds)) ELSE p.next_due_at END,
       check_seq = p.seq,
       baseline_at = COALESCE(w.baseline_at, p.baseline_at),
       covered_until = COALESCE(p.covered_until, w.covered_until),
       last_checked_at = COALESCE(p.checked_at, w.last_checked_at),
       last_status = COALESCE(p.status, w.last_status)
     FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::text[],
         $8::bigint[], $9::int[])
       AS p (watch_id, seq, next_due_at, baseline_at, covered_until, checked_at, status, up_to, interval_seconds)
     WHERE w.watch_id = p.watch_id AND w.check_seq <= p.up_to`,
    [
      rows.map((row) => row.watchId),
      rows.map((row) => row.seq),
      rows.map((row) => row.nextDueAt),
      rows.map((row) => row.baselineAt),
      rows.map((row) => row.coveredUntil),
      rows.map((row) => row.checkedAt),
      rows.map((row) => row.status),
      rows.map((row) => row.upTo),
      rows.map((row) => row.interval),
    ],
  );
}
