import type { Clock } from '#kernel';
import { OVERLAP_MS } from '../domain/feed-watch.js';
import type { DueSearch } from '../due/due-work.js';
import type { Lane } from '../lanes/lane.js';

/**
 * Returns the time from which a search must be read: the time up to which its due watches have read everything, minus
 * `OVERLAP_MS`. Undefined if one of these watches has its first check.
 */
export function sinceOf(lane: Lane, search: DueSearch, clock: Clock): Date | undefined {
  const coveredUntil = coveredUntilOf(search);
  if (coveredUntil === undefined) return undefined;
  // The clock can have been set back since the last read.
  const until = Math.min(lane.shownUntil(coveredUntil), lane.readTime(clock.now()).getTime());
  return new Date(until - OVERLAP_MS);
}

/** Returns the time up to which all due watches of a search were read. Undefined if one of them has its first check. */
function coveredUntilOf({ watches }: DueSearch): number | undefined {
  let until = Infinity;
  for (const { coveredUntil } of watches) {
    if (coveredUntil === undefined) return undefined;
    until = Math.min(until, coveredUntil);
  }
  return until;
}

/**
 * Returns the length of the period that the search must read. Stalls of the feed do not count: while a feed shows
 * nothing new, reading it further back needs no more requests.
 */
export function windowOf(lane: Lane, search: DueSearch, clock: Clock): { windowSeconds?: number } {
  const until = coveredUntilOf(search);
  if (until === undefined) return {};
  return { windowSeconds: (lane.readTime(clock.now()).getTime() - until + OVERLAP_MS) / 1000 };
}

/** Returns the earliest of the times from which searches must be read. */
export function earliestOf(windows: Iterable<Date | undefined>, clock: Clock): Date {
  let earliest = clock.now();
  for (const from of windows) if (from && from < earliest) earliest = from;
  return earliest;
}
