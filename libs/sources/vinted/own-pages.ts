import { UpstreamError, type FetchContext } from '../source.js';
import type { History } from './history.js';
import type { Market } from './markets.js';
import { listingUrl } from './request.js';
import type { Scan } from './scan.js';
import { isGone } from './session.js';

/** A listing that is missing may be asked for on its own page: at most so many in a read, since each costs a request. */
export const CONFIRMATIONS = 2;

/** What the own pages of listings say. */
export interface OwnPages {
  /** Ids of those that are gone. */
  gone: ReadonlySet<string>;
  warnings: string[];
}

/**
 * Asks the own pages of the first few listings. One that cannot be read says nothing, and is no reason to lose the
 * scan: the next will tell as well. Where Vinted asks for patience no other is asked, and the lane waits.
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
        return { gone, warnings: [`${message}; whether listings are gone is told by the next check`] };
      }
    }
  }
  return { gone, warnings: [] };
}

/** That one or two listings leave a list between two scans, and it is empty, happens. */
const FEW = 2;
/** A list that is empty for so long is believed to be. */
const DOUBTED_MS = 2 * 86_400_000;

/**
 * Ids of the listings that the scan before has shown, where this one shows nothing at all although they were several:
 * Vinted has more likely not answered than lost them all at once. Empty where the scan can be believed.
 */
export function vanished(before: History | undefined, scans: readonly Scan[], now: Date): string[] {
  const isEmpty = scans.every(({ placed, promoted }) => placed.length + promoted.length === 0);
  if (!before || !isEmpty || now.getTime() - before.scannedAt >= DOUBTED_MS) return [];
  const ids = [...before.followed]
    .filter(([, one]) => !one.gone && !one.unplaced && one.lastSeenAt === before.scannedAt)
    .map(([id]) => id);
  return ids.length > FEW ? ids.sort() : [];
}

/** The fault of an answer that is empty and not believed. No other search need wait for it. */
export function emptyAnswer(listings: number): UpstreamError {
  const reason = `vinted answered an empty list where ${listings} listings were; counted as no answer`;
  return new UpstreamError('truncated', reason, 200, undefined, 'search');
}
