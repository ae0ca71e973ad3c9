import { create, toBinary } from '@bufbuild/protobuf';
import {
  CheckSchema,
  MatchedItemSchema,
  ObservationSchema,
  type Check,
  type MatchedItem,
  type MatchMode,
  type Observation,
} from '#contracts';
import type { Shortage } from '#credits';
import { checkIdOf, isoOf } from '#kernel';
import { cutObservation, cutText, type UpstreamError } from '#sources';
import { unitsOf, type CheckPrice } from '../read/check-price.js';
import type { DueWatch, DueSearch } from '../due/due-work.js';
import { selectNewItems, type KeptItem, type MatchedSourceItem } from './new-items.js';
import type { Answer } from '../read/read-upstream.js';

/**
 * Maximum size of the items, observations and ids in one part, so that its message fits well into the server's 1 MiB.
 */
const PART_BYTES = 512 * 1024;
/**
 * Maximum number of notes (`warnings`) of one check, and of bytes in a note. Notes that state how many notes or items
 * were left out are added to them. The reason of a failure can be longer, because it can name twenty feeds.
 */
const MAX_NOTES = 30;
const NOTE_BYTES = 1024;
const REASON_BYTES = 8192;

/** The check of one watch, with its price. */
export interface PricedCheck {
  search: DueSearch;
  watch: DueWatch;
  price: CheckPrice;
  /** The mode in which the items were matched. */
  matchMode: MatchMode;
}

/** Builds the check of one watch from the result of a read, in as many parts as the size of the check needs. */
export function completedCheck(
  { search, watch, price, matchMode }: PricedCheck,
  answer: Extract<Answer, { kind: 'read' }>,
  matched: readonly MatchedSourceItem[],
  seen: ReadonlySet<string>,
  finishedAt: Date,
): Check[] {
  const fresh = matched.filter(({ item }) => !seen.has(item.itemId));
  const baseline = watch.baselineAt === undefined;
  const { fetched, clockAheadMs } = answer;
  const { kept, remembered, overflow } = selectNewItems(fresh, watch, {
    outages: fetched.outages,
    clockAheadMs,
  });
  const units = unitsOf(price, fetched);
  const check = create(CheckSchema, {
    ...identityOf(search, watch, finishedAt),
    baseline,
    rememberedItemIds: remembered,
    units,
    costCredits: price.rateCredits * units,
    rateCredits: price.rateCredits,
    priceBookVersion: price.priceBookVersion,
    firstScan: price.firstScan,
    windowFrom: answer.windowFrom ? isoOf(answer.windowFrom) : '',
    windowTo: isoOf(answer.readAt),
    gap: fetched.gap && !baseline,
    warnings: notesOf([...(overflow > 0 ? [overflowNote(kept.length, overflow)] : []), ...fetched.warnings]),
    itemsSeen: fetched.items.length,
    matchMode,
  });
  const observations = (fetched.observations ?? []).map((init) =>
    create(ObservationSchema, cutObservation(init)),
  );
  // Oldest first: events are published and delivered in the order of the items, and the oldest item has already waited
  // longest.
  return split(check, kept.toReversed(), observations);
}

/** Builds the check of one watch whose upstream failed. The check has the reason, and is free. */
export function failedCheck(
  search: DueSearch,
  watch: DueWatch,
  error: UpstreamError,
  retryAt: Date | undefined,
  finishedAt: Date,
): Check {
  return create(CheckSchema, {
    ...identityOf(search, watch, finishedAt),
    failure: {
      kind: error.kind,
      reason: cutText(error.message, REASON_BYTES),
      statusCode: error.statusCode,
      retryAt: retryAt ? isoOf(retryAt) : '',
    },
  });
}

/** Builds the failed check of one watch whose account could not pay. No request was sent for this watch. */
export function unpaidCheck(
  search: DueSearch,
  watch: DueWatch,
  { needed, available }: Shortage,
  finishedAt: Date,
): Check {
  return create(CheckSchema, {
    ...identityOf(search, watch, finishedAt),
    failure: {
      kind: 'insufficient_credits',
      reason: `${search.source} was not read: the check can cost ${credits(needed)}, and ${available} of the account’s credits are available`,
      creditsNeeded: needed,
    },
  });
}

function credits(count: number): string {
  return `${count} ${count === 1 ? 'credit' : 'credits'}`;
}

function identityOf(search: DueSearch, watch: DueWatch, finishedAt: Date) {
  const tick = isoOf(watch.tick);
  return {
    checkId: checkIdOf(watch.watchId, tick),
    accountId: watch.accountId,
    watchId: watch.watchId,
    keywordId: watch.keywordId,
    searchId: watch.searchId,
    source: search.source,
    criteriaHash: search.searchKey.slice(search.source.length + 1),
    tick,
    finishedAt: isoOf(finishedAt),
    part: 1,
    parts: 1,
  };
}

function overflowNote(kept: number, overflow: number): string {
  return `${kept + overflow} new items matched. This is more than one check keeps: the newest ${kept} were kept, and the others are never reported`;
}

function notesOf(notes: readonly string[]): string[] {
  const kept = notes.slice(0, MAX_NOTES).map((note) => cutText(note, NOTE_BYTES));
  return notes.length > kept.length ? [...kept, `and ${notes.length - kept.length} more notes`] : kept;
}

/** Returns the stored form of the item, and its size; undefined if the item cannot be encoded or is too large. */
function matchedItem({
  item,
  matches,
  backfilled,
}: KeptItem): { item: MatchedItem; bytes: number } | undefined {
  try {
    const matched = create(MatchedItemSchema, { item, matches, backfilled });
    const bytes = toBinary(MatchedItemSchema, matched).length;
    return bytes > PART_BYTES ? undefined : { item: matched, bytes };
  } catch {
    return undefined;
  }
}

/**
 * Splits a check into parts with the same check id. The first part has the warnings. The last part has the charge: if a
 * crash loses the last parts, the check is repeated, and the incomplete check must not be charged. An item that cannot
 * be stored is left out, and the check states the number of such items.
 */
function split(check: Check, reported: readonly KeptItem[], observations: readonly Observation[]): Check[] {
  const items = reported.flatMap((one) => matchedItem(one) ?? []);
  const lost = reported.length - items.length;
  if (lost > 0)
    check.warnings.push(`${lost} of ${reported.length} new items could not be stored and were left out`);
  const groups: Pick<Check, 'items' | 'rememberedItemIds' | 'observations'>[] = [];
  let bytes = Infinity;
  const groupFor = (size: number) => {
    bytes += size;
    const last = groups.at(-1);
    if (last && bytes <= PART_BYTES) return last;
    const next = { items: [], rememberedItemIds: [], observations: [] };
    groups.push(next);
    bytes = size;
    return next;
  };
  for (const { item, bytes: size } of items) groupFor(size).items.push(item);
  for (const one of observations) groupFor(toBinary(ObservationSchema, one).length).observations.push(one);
  for (const id of check.rememberedItemIds) groupFor(Buffer.byteLength(id)).rememberedItemIds.push(id);
  if (groups.length === 0) groupFor(0);
  return groups.map((group, index) =>
    create(CheckSchema, {
      ...check,
      ...group,
      part: index + 1,
      parts: groups.length,
      ...(index > 0 ? { warnings: [] } : {}),
      ...(index < groups.length - 1 ? { costCredits: 0, units: 0, rateCredits: 0 } : {}),
    }),
  );
}
