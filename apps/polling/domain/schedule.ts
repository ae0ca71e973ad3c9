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
 * Where a search's grids begin: the grid of an interval at this instant's remainder. Searches that share requests
 * (feeds) tick together; the others are spread over their interval, always alike for the same search, so that
 * identical searches meet at the same tick, and the ticks of an interval are among those of its divisors.
 */
export function originOf(searchKey: string, commonGrid: boolean): number {
  // The first 32 bits of a derived id are as good as random, and always the same.
  return commonGrid ? 0 : Number.parseInt(derivedId('phase', searchKey).slice(0, 8), 16);
}

/**
 * When a watch is due next. Its ticks are served by the reads that its search has anyway, for the watch with the
 * shortest interval: each by the nearest one, at most half that interval early or late. So more watches on a search
 * cost the upstream nothing; and since a watch's own grid does not move, it has as many checks as it would alone.
 * @param shortestMs the shortest interval of all watches on the search
 * @param origin of the search: see `originOf`
 */
export function nextDue(nowMs: number, intervalMs: number, shortestMs: number, origin: number): number {
  const tick = nextTick(nowMs, intervalMs, origin % intervalMs);
  if (shortestMs >= intervalMs) return tick;
  const read = nearestRead(tick, shortestMs, origin);
  // The tick just after now was served by the read just made.
  return read > nowMs ? read : nearestRead(tick + intervalMs, shortestMs, origin);
}

function nearestRead(tickMs: number, shortestMs: number, origin: number): number {
  return nextTick(tickMs - Math.ceil(shortestMs / 2), shortestMs, origin % shortestMs);
}
