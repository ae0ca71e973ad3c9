import { UpstreamError, type FetchContext } from '../source.js';
import type { History } from './history.js';
import type { Market } from './markets.js';
import { listingUrl } from './request.js';
import type { Scan } from './scan.js';
import { isGone } from './session.js';

/** Maximum number of missing listings whose own pages one read requests, because each costs a request. */
export const CONFIRMATIONS = 2;

/** The results of the listings' own pages. */
export interface OwnPages {
  /** Ids of listings that are gone. */
  gone: ReadonlySet<string>;
  warnings: string[];
}

/**
 * Requests the own pages of the first few listings. A page that cannot be read gives no result and does not fail the
 * scan, because the next scan decides as well. If Vinted asks to wait, no further page is requested and the lane waits.
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
      const { kind, message, retryAfterMs } = error;
      if (retryAfterMs !== undefined) context.http.holdOff({ waitMs: retryAfterMs, reason: message });
      if (retryAfterMs !== undefined || kind === 'rate_limited') {
        return { gone, warnings: [`${message}; the next check finds out whether listings are gone`] };
      }
    }
  }
  return { gone, warnings: [] };
}

/** A list may really become empty between two scans if only this many listings leave it. */
const FEW = 2;
/** After this time, an empty list is believed. */
const DOUBTED_MS = 2 * 86_400_000;

/**
 * Ids of the listings of the previous scan if this scan is empty although there were several: probably Vinted did not
 * answer correctly. Empty if the scan can be believed.
 */
export function vanished(before: History | undefined, scans: readonly Scan[], now: Date): string[] {
  const isEmpty = scans.every(({ placed, promoted }) => placed.length + promoted.length === 0);
  if (!before || !isEmpty || now.getTime() - before.scannedAt >= DOUBTED_MS) return [];
  const ids = [...before.followed]
    .filter(([, one]) => !one.gone && !one.unplaced && one.lastSeenAt === before.scannedAt)
    .map(([id]) => id);
  return ids.length > FEW ? ids.sort() : [];
}

/** The fault of an empty response that is not believed. Other searches need not wait. */
export function emptyAnswer(listings: number): UpstreamError {
  const reason = `vinted answered an empty list although it had ${listings} listings before; counted as no answer`;
  return new UpstreamError('truncated', reason, 200, undefined, 'search');
}
