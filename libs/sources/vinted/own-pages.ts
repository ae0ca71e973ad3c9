import { UpstreamError, type FetchContext } from '../source.js';
import type { History } from './history.js';
import type { Market } from './markets.js';
import { listingUrl } from './request.js';
import type { Scan } from './scan.js';
import { isGone } from './session.js';

/** One read requests the own pages of at most this many missing listings. */
export const CONFIRMATIONS = 2;

/** The results of the listings' own pages. */
export interface OwnPages {
  /** Ids of listings that are gone. */
  gone: ReadonlySet<string>;
  warnings: string[];
}

/**
 * Requests the own pages of the first few listings. A page that cannot be read is ignored, because the next scan also
 * shows whether the listing is gone. If Vinted gets too many requests or asks Earshot to wait, no further page is
 * requested, and the lane waits as long as Vinted asks.
 */
export async function askOwnPages(
  ids: readonly string[],
  market: Market,
  context: FetchContext,
): Promise<OwnPages> {
  const gone = new Set<string>();
  for (const id of ids.slice(0, CONFIRMATIONS)) {
    try {
      if (await context.shared(listingUrl(market, id), () => isGone(context, market, id))) gone.add(id);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const { message, waitMs, kind } = error;
      if (waitMs > 0) context.http.holdOff({ waitMs, reason: message });
      if (waitMs > 0 || kind === 'rate_limited')
        return { gone, warnings: [`${message}; the next check finds out whether listings are gone`] };
    }
  }
  return { gone, warnings: [] };
}

/** If at most this many listings have left the list, an empty list is plausible. */
const MAX_PLAUSIBLE_LOSS = 2;
/** If the last scan was this long ago, an empty list is plausible. */
const EMPTY_PAGE_DOUBTED_MS = 2 * 86_400_000;

/**
 * Returns the ids of the listings of the previous scan if this scan is empty although that is not plausible; otherwise
 * an empty list. An empty scan is plausible if the previous scan was at least two days ago, or had at most two
 * listings.
 */
export function missingAfterEmptyScan(
  before: History | undefined,
  scans: readonly Scan[],
  now: Date,
): string[] {
  const isEmpty = scans.every(({ placed, promoted }) => placed.length + promoted.length === 0);
  if (!before || !isEmpty || now.getTime() - before.scannedAt >= EMPTY_PAGE_DOUBTED_MS) return [];
  const ids = [...before.followed]
    .filter(([, one]) => !one.gone && !one.unplaced && one.lastSeenAt === before.scannedAt)
    .map(([id]) => id);
  return ids.length > MAX_PLAUSIBLE_LOSS ? ids.sort() : [];
}

/** Returns the fault of an empty response that is probably wrong. Other searches need not wait. */
export function emptyAnswer(listings: number): UpstreamError {
  const reason = `vinted answered an empty list although it had ${listings} listings before; this answer is not used`;
  return new UpstreamError('truncated', reason, 200, undefined, 'search');
}
