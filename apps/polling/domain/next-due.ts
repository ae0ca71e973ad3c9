import { derivedId } from '#kernel';

/**
 * Returns the first tick after `nowMs`. The ticks of an interval are the instants `phase + k × interval`. Late work
 * does not move the ticks. Missed ticks are not repeated: the next check covers their time.
 */
export function nextTick(nowMs: number, intervalMs: number, phaseMs: number): number {
  const steps = Math.floor((nowMs - phaseMs) / intervalMs) + 1;
  return phaseMs + steps * intervalMs;
}

/**
 * Returns the origin of a search: the number from which its ticks are computed. The phase of an interval is the origin
 * modulo the interval. Searches that share requests (feeds) have the same origin, so they are due at the same time. All
 * other searches are spread over their interval. The same search always has the same origin. So each tick of an interval
 * is also a tick of every interval that divides this interval.
 * @param commonGrid whether all searches of the source have the same ticks
 */
export function originOf(searchKey: string, commonGrid: boolean): number {
  // The first 32 bits of a derived id are as good as random, and always the same.
  return commonGrid ? 0 : Number.parseInt(derivedId('phase', searchKey).slice(0, 8), 16);
}

/**
 * Returns the time of a watch's next check. The search is read at the shortest interval of its watches. The first of
 * these reads at or after a tick of this watch serves the tick. So more watches on a search cause no more requests. No
 * read is before its tick, so no tick is served twice, even if the shortest interval changes: the watch has at most as
 * many checks as it would have alone.
 * @param minIntervalMs the shortest interval of all watches on the search
 * @param origin of the search: see `originOf`
 */
export function nextDue(nowMs: number, intervalMs: number, minIntervalMs: number, origin: number): number {
  const tick = nextTick(nowMs, intervalMs, origin % intervalMs);
  const readEveryMs = Math.min(minIntervalMs, intervalMs);
  return nextTick(tick - 1, readEveryMs, origin % readEveryMs);
}
