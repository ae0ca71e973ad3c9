import { derivedId } from '#kernel';

/**
 * Returns the first instant after `nowMs` on the grid of the interval: `phase + k × interval`. Late work does not move
 * the grid, and missed ticks are not repeated: the next check covers their time.
 */
export function nextTick(nowMs: number, intervalMs: number, phaseMs: number): number {
  const steps = Math.floor((nowMs - phaseMs) / intervalMs) + 1;
  return phaseMs + steps * intervalMs;
}

/**
 * Returns the phase of a search's grids: the grid of an interval begins at this number modulo the interval. Searches
 * that share requests (feeds) have the same ticks; the others are spread over their interval. The same search always
 * has the same phase, so that identical searches have the same ticks, and the ticks of an interval are also ticks of
 * every interval that divides it.
 */
export function originOf(searchKey: string, commonGrid: boolean): number {
  // The first 32 bits of a derived id are as good as random, and always the same.
  return commonGrid ? 0 : Number.parseInt(derivedId('phase', searchKey).slice(0, 8), 16);
}

/**
 * Returns the time of a watch's next check. The search is read in the shortest interval of its watches, and each tick
 * of this watch uses the nearest of those reads, at most half that interval early or late. So further watches on a
 * search cause no further requests. The watch's own grid does not move, so it has as many checks as it would have
 * alone.
 * @param minIntervalMs the shortest interval of all watches on the search
 * @param origin phase of the search: see `originOf`
 */
export function nextDue(nowMs: number, intervalMs: number, minIntervalMs: number, origin: number): number {
  const tick = nextTick(nowMs, intervalMs, origin % intervalMs);
  if (minIntervalMs >= intervalMs) return tick;
  const read = nearestRead(tick, minIntervalMs, origin);
  // The read that has just finished already served the next tick.
  return read > nowMs ? read : nearestRead(tick + intervalMs, minIntervalMs, origin);
}

function nearestRead(tickMs: number, minIntervalMs: number, origin: number): number {
  return nextTick(tickMs - Math.ceil(minIntervalMs / 2), minIntervalMs, origin % minIntervalMs);
}
