import type { Followed, History } from './history.js';

const DAY_MS = 86_400_000;
/** Older changes are no longer reported; `missedUntil` shows that to a watch with a longer interval. */
const KEPT_MS = 31 * DAY_MS;
/** More than one read can return (30 pages of 96), so current listings are never forgotten. */
const MOST_FOLLOWED = 3_000;
/** Per listing. */
const MOST_HAPPENINGS = 20;
/** Per listing, one per day: 24 hours that end at any time touch two calendar days. */
export const MOST_SIGHTINGS = 2;
const SIGHTING_KEPT_MS = MOST_SIGHTINGS * DAY_MS;

/** The UTC day of an instant, as a number of days since the epoch. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/**
 * The history within its limits: nothing older than 31 days, at most 3,000 listings, gone ones are removed first. If a
 * change is removed that a watch with a long interval may not have got, `missedUntil` records it.
 */
export function pruned(history: History, now: number): History {
  const oldest = now - KEPT_MS;
  let missedUntil = history.missedUntil;
  const forget = (one: Followed, count = one.happenings.length) => {
    const last = one.happenings[count - 1];
    if (last) missedUntil = Math.max(missedUntil ?? 0, last.at);
  };

  const followed = new Map<string, Followed>();
  for (const [id, one] of history.followed) {
    const old = one.happenings.filter(({ at }) => at < oldest).length;
    const count = Math.max(old, one.happenings.length - MOST_HAPPENINGS);
    forget(one, count);
    const happenings = one.happenings.slice(count);
    // A listing that was not seen for so long is deeper than scans read.
    const unseenSince = one.unplaced && happenings.length === 0 ? now - SIGHTING_KEPT_MS : oldest;
    const sightings = one.sightings.filter(({ at }) => at >= now - SIGHTING_KEPT_MS);
    const isOver = one.gone ? happenings.length === 0 : one.lastSeenAt < unseenSince;
    if (!isOver) followed.set(id, { ...one, happenings, sightings });
    else forget(one);
  }

  const unseen = [...followed.values()].filter(({ lastSeenAt, gone }) => gone || lastSeenAt < now);
  unseen.sort((a, b) => Number(b.gone) - Number(a.gone) || latestOf(a) - latestOf(b));
  for (const one of unseen.slice(0, Math.max(0, followed.size - MOST_FOLLOWED))) {
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

function latestOf({ lastSeenAt, happenings }: Followed): number {
  return Math.max(lastSeenAt, happenings.at(-1)?.at ?? 0);
}
