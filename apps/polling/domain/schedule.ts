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
