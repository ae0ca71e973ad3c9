import type { FetchContext } from '../source.js';
import type { SearchStart } from './request.js';

// X answers 400 to what lies further back, and to what is too near: its searches end 30 s before they are asked.
const REACH_MS = 7 * 86_400_000;
const MARGIN_MS = 60_000;
// An id holds the milliseconds since then in all but its lowest 22 bits.
const EPOCH_MS = 1_288_834_974_657;

/**
 * Where a search begins: behind the newest tweet that it has found, or where that is unknown or too long ago, at
 * `since`. The warning: not everything since then can be asked for.
 */
export function startOf(
  { since, now }: Pick<FetchContext, 'since' | 'now'>,
  newestId: string | undefined,
): { start: SearchStart; warnings: string[] } {
  if (!since) return { start: undefined, warnings: [] };
  const earliestMs = now.getTime() - REACH_MS;
  if (newestId !== undefined && createdMs(newestId) > earliestMs + MARGIN_MS) {
    return { start: { sinceId: newestId }, warnings: [] };
  }
  const latestMs = now.getTime() - MARGIN_MS;
  const startMs = Math.min(Math.max(since.getTime(), earliestMs + MARGIN_MS), latestMs);
  const missed = since.getTime() < earliestMs;
  return {
    // Whole seconds are what X takes.
    start: { startTime: `${new Date(startMs).toISOString().slice(0, 19)}Z` },
    warnings: missed ? ['x searches the last 7 days only; what is older was not asked for'] : [],
  };
}

/** The newer of two tweet ids, which do not fit a double. */
export function newerThan(one: string | undefined, other: string | undefined): string | undefined {
  const ids = [one, other].filter((id) => id !== undefined && /^\d{1,19}$/.test(id));
  return ids.sort((a, b) => Number(BigInt(b ?? 0) - BigInt(a ?? 0)))[0];
}

function createdMs(id: string): number {
  return /^\d{1,19}$/.test(id) ? Number(BigInt(id) >> 22n) + EPOCH_MS : 0;
}
