import { percent } from '../../parts/format.js';

/** If all windows together are shorter than this, the covered share is not shown: it would not be meaningful. */
export const JUST_STARTED_MS = 60_000;

/**
 * Returns true if the answer begins later than requested. The API leaves out the older time if the status of the
 * searches changed too often.
 */
export const beginsLater = (answer: { since: string }, requestedSince: string) =>
  Date.parse(answer.since) > Date.parse(requestedSince);

/**
 * Returns a share as text: “over 99%” for a share between 99% and 100%, because a rounded 100% would hide that some time
 * is missing.
 */
export const percentOf = (part: number) => (part > 0.99 && part < 1 ? 'over 99%' : percent(part));

/**
 * Returns the text of the badge of a search; undefined if nothing is known about its start and its share.
 * @param covered the covered part of `whole`, in ms
 * @param whole the length of all windows, in ms
 * @param isCut true if the answer begins later than requested: then an old search can have short windows
 */
export function badgeText(covered: number, whole: number, isCut: boolean): string | undefined {
  if (whole >= JUST_STARTED_MS) return `${percentOf(covered / whole)} covered`;
  return isCut ? undefined : 'Just started';
}
