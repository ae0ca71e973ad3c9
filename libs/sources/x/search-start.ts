import type { FetchContext } from '../source.js';
import type { SearchStart } from './request.js';

// X answers 400 if the start is longer ago than this. X also answers 400 if the start is less than 30 s ago, because
// searches of X end 30 s before the request.
const REACH_MS = 7 * 86_400_000;
const MARGIN_MS = 60_000;
// Without its lowest 22 bits, an id is the number of milliseconds since this time.
const EPOCH_MS = 1_288_834_974_657;

/**
 * Returns the start of a search: the newest tweet that the search has found. If this tweet is unknown or too old, the
 * start is `since`, moved into the period that X accepts; if `since` is more than 7 days ago, a warning says that older
 * tweets are missing. Without `since`, there is no start.
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
    // X accepts whole seconds only.
    start: { startTime: `${new Date(startMs).toISOString().slice(0, 19)}Z` },
    warnings: missed ? ['x searches only the last 7 days; older tweets are missing'] : [],
  };
}

/**
 * Returns the newer of two tweet ids; undefined if neither is a valid id. The ids are compared as BigInt, because they
 * are too large for a number.
 */
export function newerThan(one: string | undefined, other: string | undefined): string | undefined {
  const ids = [one, other].filter((id) => id !== undefined && /^\d{1,19}$/.test(id));
  return ids.sort((a, b) => Number(BigInt(b ?? 0) - BigInt(a ?? 0)))[0];
}

function createdMs(id: string): number {
  return /^\d{1,19}$/.test(id) ? Number(BigInt(id) >> 22n) + EPOCH_MS : 0;
}
