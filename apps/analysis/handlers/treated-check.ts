import { DEFAULT_MATCH_MODE, type Check, type Event, type ItemReading, type MatchedItem } from '#contracts';
import { eventIdOf } from '#kernel';
import { dropOf, eventOf, type Treatment } from '../domain/event-of.js';
import type { ReadableCheck } from '../readings/item-readings.js';
import type { Readable } from '../readings/readable.js';
import { treat, type WatchSettings } from './treatment.js';

/** What earlier attempts at a check have stored. */
export interface Earlier {
  /** Ids of events. */
  events: ReadonlySet<string>;
  /** Readings by event id. */
  readings: ReadonlyMap<string, ItemReading>;
}

/** An item of a check, with the result of applying mutes and VIPs. */
interface TreatedItem {
  matched: MatchedItem;
  treatment: Treatment;
}

/** A check with its treated items by event id. */
export interface TreatedCheck extends ReadableCheck {
  settings: WatchSettings;
  treated: ReadonlyMap<string, TreatedItem>;
  isRepeated: boolean;
}

/** Applies mutes and VIPs to the items of a check. Leaves out items whose events are already stored. */
export function treatedCheck(
  check: Check,
  settings: WatchSettings,
  earlier: Earlier | undefined,
  cause: string | undefined,
): TreatedCheck {
  const { matchMode, definition } = settings;
  const mode = matchMode || DEFAULT_MATCH_MODE;
  const treated = new Map<string, TreatedItem>();
  const items: Readable[] = [];
  for (const matched of check.items) {
    const { item } = matched;
    const eventId = item && eventIdOf(check.watchId, item.itemId);
    // A stored event never changes. If a check contains an item twice, the first version of the item is used.
    if (!eventId || earlier?.events.has(eventId) || treated.has(eventId)) continue;
    const treatment = treat(item, { matchMode: mode, definition });
    treated.set(eventId, { matched, treatment });
    if (!treatment.dropped) items.push({ eventId, check, matched, item, settings });
  }
  return {
    ...{ check, settings, items, treated, cause },
    stored: earlier?.readings ?? new Map(),
    isRepeated: earlier !== undefined,
  };
}

/** Number of items that are read and published together. Reading so many short items takes about 20 ms. */
const ITEMS_TOGETHER = 24;

/** Splits checks into parts with few items each. A check with many items is split over several parts. */
export function partsOf(checks: readonly TreatedCheck[]): TreatedCheck[][] {
  const parts: TreatedCheck[][] = [];
  let room = 0;
  for (const check of checks) {
    const all = [...check.treated];
    for (let from = 0; from < all.length;) {
      if (room === 0) {
        parts.push([]);
        room = ITEMS_TOGETHER;
      }
      const treated = new Map(all.slice(from, from + room));
      const items = check.items.filter(({ eventId }) => treated.has(eventId));
      parts.at(-1)!.push({ ...check, items, treated });
      from += treated.size;
      room -= treated.size;
    }
  }
  return parts;
}

/** Returns the events of the check with the readings so far. */
export function draftsOf(
  { check, settings: { definition }, treated }: TreatedCheck,
  readings: ReadonlyMap<string, ItemReading>,
): Event[] {
  return [...treated].map(([eventId, { matched, treatment }]) => {
    const reading = treatment.dropped ? undefined : readings.get(eventId);
    const dropped = treatment.dropped ?? (reading && dropOf(definition, reading));
    return eventOf(check, matched, { ...treatment, dropped }, reading);
  });
}
