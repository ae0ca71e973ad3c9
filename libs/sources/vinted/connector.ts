import type { Criteria } from '#contracts';
import { UpstreamError, type FetchContext, type Fetched, type SourceConnector } from '../source.js';
import { follow, type Followup } from './follow.js';
import { readHistory, writeHistory, type History } from './history.js';
import { marketOf, type Market } from './markets.js';
import { parseCatalog, type Listing } from './parse.js';
import { observationsOf } from './observations.js';
import { CONFIRMATIONS, askOwnPages, emptyAnswer, missingAfterEmptyScan } from './own-pages.js';
import { reportOfAll, reportSince } from './report.js';
import { PAGES_PER_READ, catalogUrl, faultsOf, phrasesOf, scanPagesOf } from './request.js';
import { scan, type Scan } from './scan.js';
import { askCatalog } from './session.js';

// `context.since` is this long before the watch's previous read.
const OVERLAP_MS = 5 * 60_000;

/**
 * Vinted with the catalogue of its sites. This is not an official API, so the source is disabled unless
 * `SOURCE_VINTED_ENABLED=true`. It reports new listings, price changes, and listings that are gone.
 */
export function createVintedConnector(): SourceConnector {
  return {
    id: 'vinted',
    requiredSettings: [],
    filterKeys: ['brand_ids', 'size_ids', 'catalog_ids', 'color_ids', 'status_ids'],
    commonGrid: false,
    hasSearch: true,
    datesByOurClock: true,
    // Vinted documents no limit, but answers 403 and 429 to faster requests.
    budget: { requestsPerMinute: 20, concurrency: 1, backoff: 'lane' },
    checkCriteria: faultsOf,
    requestsPerSearch: (criteria) => phrasesOf(criteria).length * scanPagesOf(criteria),
    search,
  };
}

async function search(criteria: Criteria, context: FetchContext): Promise<Fetched> {
  const market = marketOf(criteria.market);
  if (!market) {
    throw new UpstreamError(
      'not_found',
      `vinted has no market "${criteria.market ?? ''}"; change the search`,
    );
  }
  const { since, now } = context;
  const kept = readHistory(context.state['history'], market);
  const scans = await scanAll(criteria, market, kept, context);
  const before = kept ?? (since && rebuiltHistory(scans, since, context));
  const followup = await followed(before, scans, market, context);
  const { history, present, gap } = followup;

  const shown = new Map<string, Listing>();
  for (const { placed, promoted } of scans)
    for (const listing of [...promoted, ...placed]) shown.set(listing.id, listing);
  const reported = { market, history, present, shown };
  // Some changes are reported twice, so that none is lost if the clocks of machines differ. Sightings are
  // reported once, because otherwise all listings would be reported twice.
  const seen = since && new Date(since.getTime() + OVERLAP_MS);
  const observations = observationsOf(criteria, reported, since && seen && { happened: since, seen });
  const missed = (history.missedUntil ?? 0) > (since?.getTime() ?? Infinity) + OVERLAP_MS;
  context.state['history'] = writeHistory(
    // Without a history, changes since the previous read are unknown. So watches that were read before can miss some.
    kept || !since ? history : { ...history, missedUntil: now.getTime() },
    market,
  );
  return {
    items: since ? reportSince(since, reported) : reportOfAll(reported),
    gap: gap || missed,
    warnings: [...new Set([...scans, followup].flatMap(({ warnings }) => warnings))],
    ...(observations.length > 0 && { observations }),
  };
}

/**
 * Scans one phrase after another, at most `PAGES_PER_READ` pages in total. Pages beyond the minimum of
 * each phrase go to the first phrases that need more.
 */
async function scanAll(
  criteria: Criteria,
  market: Market,
  history: History | undefined,
  context: FetchContext,
): Promise<Scan[]> {
  const phrases = phrasesOf(criteria);
  const atLeast = Math.min(scanPagesOf(criteria), context.pageCap);
  let spare = PAGES_PER_READ - phrases.length * atLeast;
  const scans: Scan[] = [];
  for (const phrase of phrases) {
    const key = phrase.toLowerCase();
    const atMost = Math.min(context.pageCap, atLeast + spare);
    const one = await scan(key, history?.lists.get(key), { atLeast, atMost }, (page, time) => {
      const url = catalogUrl(market, criteria, phrase, page, time);
      // Each page is shared, because first and later reads of watches use the same list.
      return context.shared(url, async () => parseCatalog(await askCatalog(context, market, url), market));
    });
    spare -= Math.max(0, one.pages - atLeast);
    scans.push(one);
  }
  return scans;
}

async function followed(
  before: History | undefined,
  scans: readonly Scan[],
  market: Market,
  context: FetchContext,
): Promise<Followup & { warnings: string[] }> {
  const { now } = context;
  const followup = follow({ before, scans, now });
  const emptied = missingAfterEmptyScan(before, scans, now);
  const doubtful = emptied.length > 0 ? emptied : followup.doubtful;
  const { gone, warnings } = await askOwnPages(doubtful, market, context);
  if (emptied.length > 0 && gone.size < CONFIRMATIONS) throw emptyAnswer(emptied.length);
  return { ...(gone.size === 0 ? followup : follow({ before, scans, now, confirmedGone: gone })), warnings };
}

/**
 * Builds a new history if the old history is lost, for example because a new version of Earshot cannot read it. The new
 * history contains the listings that all due watches have seen before. Other listings are reported as new if they are
 * above the last listing of the new history, or if the new history is empty.
 */
function rebuiltHistory(scans: readonly Scan[], since: Date, context: FetchContext): History {
  const known = (listings: readonly Listing[]) => listings.filter(({ itemId }) => context.known(itemId));
  const at = since.getTime();
  const listings = scans.flatMap(({ placed, promoted }) => known([...placed, ...promoted]));
  return {
    scannedAt: at,
    lists: new Map(
      scans.map(({ phrase, placed }) => [phrase, { order: known(placed).map(({ id }) => id), whole: false }]),
    ),
    followed: new Map(
      listings.map((listing) => [
        listing.id,
        {
          listing,
          firstSeenAt: at,
          lastSeenAt: at,
          listed: 1,
          priceChanges: 0,
          missing: 0,
          gone: false,
          unplaced: false,
          changes: [],
          sightings: [],
        },
      ]),
    ),
  };
}
