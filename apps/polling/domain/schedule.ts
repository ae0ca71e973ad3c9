import { derivedId } from '#kernel';

/**
 * The first instant after `nowMs` on the grid of the interval: `phase + k × interval`. Late work does not shift
 * the grid, and missed ticks are not made up for: the next check covers them.
 */
export function nextTick(nowMs: number, intervalMs: number, phaseMs: number): number {
  const steps = Math.floor((nowMs - phaseMs) / intervalMs) + 1;
  return phaseMs + steps * intervalMs;
}

/**
 * Where a search's grid begins. Searches that share requests (feeds) tick together; the others are spread over
 * their interval, always alike for the same search, so that identical searches meet at the same tick.
 */
export function phaseOf(searchKey: string, intervalMs: number, commonGrid: boolean): number {
  if (commonGrid) return 0;
  // The first 32 bits of a derived id are as good as random, and always the same.
  return Number.parseInt(derivedId('phase', searchKey).slice(0, 8), 16) % intervalMs;
}

/** A tick waits for the search's next read where that comes within this part of the watch's own interval. */
const SHARED_WAIT = 0.1;

/**
 * When a watch is due next. Its tick may fall between two reads that its search has anyway, for a watch with a
 * shorter interval: where the next of these is near, the watch waits for it, and costs the upstream nothing. Its own
 * grid does not move.
 * @param shortestMs the shortest interval of all watches on the search
 */
export function nextDue(
  nowMs: number,
  intervalMs: number,
  shortestMs: number,
  searchKey: string,
  commonGrid: boolean,
): number {
  const tick = nextTick(nowMs, intervalMs, phaseOf(searchKey, intervalMs, commonGrid));
  if (shortestMs >= intervalMs) return tick;
  const read = nextTick(tick - 1, shortestMs, phaseOf(searchKey, shortestMs, commonGrid));
  return read - tick <= intervalMs * SHARED_WAIT ? read : tick;
}
