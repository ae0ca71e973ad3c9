import type { Check } from '#contracts';
import { keepAdopted, keepUntilCharged, release } from '#credits';
import type { Tx } from '#postgres';
import type { UpstreamError } from '#sources';
import { checkReservationOf } from '../read/check-reservation.js';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/** The changes of one check in the tables of its watch. */
export interface Progress {
  search: DueSearch;
  watch: DueWatch;
  checks: Check[];
  seq: number;
  nextDueAt: number;
  /** True if the search must wait until `nextDueAt`, even if the watch's interval ends earlier. */
  waits: boolean;
  /** True if the stream contained the checks already: another replica, or an earlier attempt, stored them. */
  adopted?: boolean;
  /** Why the result could not be stored. Then the check fails with this reason. */
  fault?: UpstreamError;
  /** True if the stream no longer contains what the tables remember, so that `seq` can be behind the tables. */
  forgotten?: boolean;
}

/** Updates the tables from the stream: reservations, remembered items, and the next checks of the watches. */
export async function applyProgress(tx: Tx, progress: readonly Progress[]): Promise<void> {
  await keepReservations(tx, progress);
  await rememberItems(tx, progress);
  await moveWatches(tx, progress);
}

/**
 * Keeps the reservations of stored checks until billing charges these checks, even if billing is late. An adopted check
 * can already be charged: credits are reserved again only if the charge is missing. If an adopted check failed or has
 * another id, the reservation of this attempt is released.
 */
async function keepReservations(tx: Tx, progress: readonly Progress[]): Promise<void> {
  const stored = progress.filter(({ adopted }) => !adopted).flatMap(({ checks }) => checks.filter(isCharged));
  const adopted = progress.filter((one) => one.adopted);
  const found = adopted.flatMap(({ checks }) => checks.filter(isCharged));
  const foundIds = new Set(found.map(({ checkId }) => checkId));
  const own = adopted.map(({ search, watch }) => checkReservationOf(search, watch));
  // `keepAdopted` locks balances, so it runs before the steps that lock reservations.
  await keepAdopted(
    tx,
    'CHECKS',
    found.map(({ checkId, accountId, costCredits }) => ({
      reservationId: checkId,
      accountId,
      credits: costCredits,
    })),
  );
  await release(
    tx,
    own.filter(({ reservationId }) => !foundIds.has(reservationId)),
  );
  await keepUntilCharged(
    tx,
    'CHECKS',
    stored.map(({ checkId }) => checkId),
  );
}

/** Returns whether billing charges the check. Old checks that have a cost but no price book are not charged. */
function isCharged({ failure, costCredits, priceBookVersion }: Check): boolean {
  return !failure && costCredits > 0 && priceBookVersion !== '';
}

/**
 * Stores which items the watches have seen, with the end of the check's window as the time. An incomplete check does
 * not move the window of the watch, so its items have a time after `covered_until`. They are not reported again. But
 * a read does not stop paging at them, because the items of the missing parts can be older.
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
 * Returns whether the last part of a check was stored. If a crash has prevented this, the check does not move the
 * window, so that the next check finds the items of the missing parts.
 */
function isWhole(check: Check, stored: readonly Check[]): boolean {
  return stored.some(({ checkId, part, parts }) => checkId === check.checkId && part === parts);
}

/**
 * Moves watches to their next tick. Never moves a watch back: a newer check can have been recorded meanwhile. If the
 * watch's interval was changed during the check, the next tick keeps its time, unless the new interval ends earlier. If
 * the search must wait, the new interval is ignored.
 */
async function moveWatches(tx: Tx, progress: readonly Progress[]): Promise<void> {
  const rows = progress.map(({ watch, checks, seq, nextDueAt, waits, forgotten }) => {
    const last = checks.at(-1);
    const completed = checks.filter((check) => !check.failure && isWhole(check, checks));
    const baseline = completed.find((check) => check.baseline);
    return {
      watchId: watch.watchId,
      seq,
      // A row with a higher sequence is not updated.
      upTo: forgotten ? Math.max(seq, watch.checkSeq) : seq,
      // Null: the next tick does not depend on the interval.
      interval: waits ? null : watch.intervalSeconds,
      nextDueAt: new Date(nextDueAt),
      baselineAt: baseline ? baseline.windowTo : null,
      coveredUntil: completed.at(-1)?.windowTo || null,
      failedAt: last?.failure ? last.finishedAt : null,
      // A check that was only partly stored does not hide an earlier failure.
      hasCheck: last?.failure !== undefined || completed.length > 0,
    };
  });
  await tx.query(
    `UPDATE watch_schedule w SET
       due_second = second_of(CASE WHEN w.interval_seconds <> p.interval_seconds
         THEN LEAST(p.next_due_at, now() + make_interval(secs => w.interval_seconds)) ELSE p.next_due_at END),
       check_seq = p.seq,
       baseline_at = COALESCE(w.baseline_at, p.baseline_at),
       covered_until = COALESCE(p.covered_until, w.covered_until),
       failed_at = CASE WHEN p.has_check THEN p.failed_at ELSE w.failed_at END,
       traceparent = NULL
     FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::boolean[],
         $8::bigint[], $9::int[])
       AS p (watch_id, seq, next_due_at, baseline_at, covered_until, failed_at, has_check, up_to, interval_seconds)
     WHERE w.watch_id = p.watch_id AND w.check_seq <= p.up_to`,
    [
      rows.map((row) => row.watchId),
      rows.map((row) => row.seq),
      rows.map((row) => row.nextDueAt),
      rows.map((row) => row.baselineAt),
      rows.map((row) => row.coveredUntil),
      rows.map((row) => row.failedAt),
      rows.map((row) => row.hasCheck),
      rows.map((row) => row.upTo),
      rows.map((row) => row.interval),
    ],
  );
}
