import type { Followed, History } from './history.js';

const DAY_MS = 86_400_000;
/**
 * Changes, and listings that are gone, are kept for this time. If a watch was not read for a longer time, `missedUntil`
 * shows that its changes can be missing.
 */
export const KEPT_MS = 31 * DAY_MS;
/**
 * Maximum number of listings in the history. One read returns fewer listings (30 pages of 96), so current listings are
 * never removed.
 */
const MAX_FOLLOWED = 3_000;
/** Maximum number of changes of one listing. */
const MAX_CHANGES = 20;
/** Maximum number of sightings of one listing: one per UTC day, and a period of 24 hours touches at most two days. */
export const MAX_SIGHTINGS = 2;
const SIGHTING_KEPT_MS = MAX_SIGHTINGS * DAY_MS;

/** Returns the UTC day of an instant, as a number of days since the epoch. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/**
 * Limits the history to 31 days and 3,000 listings, and the changes and sightings of each listing. Listings that are
 * gone are removed first. `missedUntil` becomes the time of the latest removed change, because there can be watches
 * that have not reported it yet.
 */
export function pruned(history: History, now: number): History {
  const oldest = now - KEPT_MS;
  let missedUntil = history.missedUntil;
  const forget = (one: Followed, count = one.changes.length) => {
    const last = one.changes[count - 1];
    if (last) missedUntil = Math.max(missedUntil ?? 0, last.at);
  };

  const followed = new Map<string, Followed>();
  for (const [id, one] of history.followed) {
    const old = one.changes.filter(({ at }) => at < oldest).length;
    const count = Math.max(old, one.changes.length - MAX_CHANGES);
    forget(one, count);
    const changes = one.changes.slice(count);
    // A listing that was seen only as promoted is removed earlier, because it has no place in a list.
    const unseenSince = one.unplaced && changes.length === 0 ? now - SIGHTING_KEPT_MS : oldest;
    const sightings = one.sightings.filter(({ at }) => at >= now - SIGHTING_KEPT_MS);
    const isOver = one.gone ? changes.length === 0 : one.lastSeenAt < unseenSince;
    if (!isOver) followed.set(id, { ...one, changes, sightings });
    else forget(one);
  }

  const unseen = [...followed.values()].filter(({ lastSeenAt, gone }) => gone || lastSeenAt < now);
  unseen.sort((a, b) => Number(b.gone) - Number(a.gone) || latestOf(a) - latestOf(b));
  for (const one of unseen.slice(0, Math.max(0, followed.size - MAX_FOLLOWED))) {
    forget(one);
    followed.delete(one.listing.id);
  }

  const lists = new Map(
    [...history.lists].map(([phrase, { order, whole }]) => [
      phrase,
      { order: order.filter((id) => followed.has(id)), whole },
    ]),
  );
  return { ...history, missedUntil, lists, followed };
}

function latestOf({ lastSeenAt, changes }: Followed): number {
  return Math.max(lastSeenAt, changes.at(-1)?.at ?? 0);
}
