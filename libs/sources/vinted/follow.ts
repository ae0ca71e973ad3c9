import type { Followed, ListingChange, ChangeKind, History } from './history.js';
import { KEPT_MS, MAX_SIGHTINGS, dayOf, pruned } from './prune-history.js';
import type { Listing } from './parse.js';
import { compare, type KnownList, type Places } from './places.js';
import { isPriceChange, type Money } from './price.js';
import type { Scan } from './scan.js';

/** The input for following listings from one scan to the next. */
export interface Following {
  /** The previous history; absent if there is none. */
  before: History | undefined;
  /** One scan for each phrase of the search. */
  scans: readonly Scan[];
  now: Date;
  /** Ids of listings whose own page confirms that they are gone. */
  confirmedGone?: ReadonlySet<string>;
}

/** The result of comparing the scans with the history. */
export interface Followup {
  history: History;
  /** Ids of all listings of the scans, newest first. Listings that were seen only as promoted come last. */
  present: string[];
  /**
   * Ids of listings that one scan has missed. A second scan, or the listing's own page, shows whether the
   * listing is gone.
   */
  doubtful: string[];
  /** True if there can be new listings that no scan has read. */
  gap: boolean;
}

/** A photo can be this much older than its listing: sellers upload photos first, and write the text later. */
const PHOTO_LEAD_MS = 3_600_000;
/** A listing is gone after this number of scans that have missed it. */
const MISSED_SCANS_UNTIL_GONE = 2;

/** Follows listings from one scan to the next. */
export function follow({ before, scans, now, confirmedGone }: Following): Followup {
  return new Follower(before, scans, now.getTime(), confirmedGone ?? new Set()).followup();
}

/** A scan and the previous list. `list` and `places` are undefined if there is no previous list. */
interface Compared {
  scan: Scan;
  list: KnownList | undefined;
  places: Places | undefined;
  /** Index of each listing in the scan. */
  indexes: ReadonlyMap<string, number>;
}

class Follower {
  private readonly compared: Compared[];
  private readonly followed: Map<string, Followed>;
  private readonly doubtful: string[] = [];
  private readonly seen = new Map<string, Listing>();

  constructor(
    private readonly before: History | undefined,
    scans: readonly Scan[],
    private readonly now: number,
    private readonly confirmedGone: ReadonlySet<string>,
  ) {
    this.followed = new Map(before?.followed);
    this.compared = scans.map((scan) => {
      const ids = scan.placed.map(({ id }) => id);
      const list = before?.lists.get(scan.phrase);
      return {
        scan,
        list,
        places: list && compare(list, ids, scan),
        indexes: new Map(ids.map((id, index) => [id, index])),
      };
    });
    for (const { scan } of this.compared)
      for (const listing of [...scan.placed, ...scan.promoted])
        if (!this.seen.has(listing.id)) this.seen.set(listing.id, listing);
  }

  followup(): Followup {
    for (const listing of this.seen.values()) this.record(listing);
    for (const [id, one] of this.before?.followed ?? []) {
      if (!one.gone && !this.seen.has(id)) this.recordMissing(id, one);
    }
    const gap = this.compared.some(({ scan, list, places }) => {
      if (!list || !places || scan.whole) return false;
      return !scan.complete || (places.newUpTo === Infinity && !list.whole);
    });
    const history = pruned(
      {
        scannedAt: this.now,
        missedUntil: gap ? this.now : this.before?.missedUntil,
        lists: this.lists(),
        followed: this.followed,
      },
      this.now,
    );
    return {
      history,
      present: this.present(),
      doubtful: this.doubtful.sort(),
      gap,
    };
  }

  private record(listing: Listing): void {
    const known = this.followed.get(listing.id);
    if (known && !known.unplaced && !known.gone) return this.recordKnown(known, listing);
    const placed = this.compared.some(({ indexes }) => indexes.has(listing.id));
    const fresh: Followed = {
      firstSeenAt: this.now,
      listed: 1,
      priceChanges: 0,
      changes: [],
      sightings: [],
      ...known,
      listing,
      lastSeenAt: this.now,
      missing: 0,
      gone: false,
      unplaced: !placed,
    };
    if (known?.gone)
      return this.recordChange({ ...fresh, listed: known.listed + 1, unplaced: false }, 'created');
    if (this.isNew(listing))
      return this.recordChange({ ...fresh, listed: this.appearanceOf(listing), unplaced: false }, 'created');
    if (known) return this.recordKnown({ ...known, unplaced: !placed }, listing);
    this.recordSighting(fresh);
  }

  private recordKnown(known: Followed, listing: Listing): void {
    const previous = known.listing.price;
    const one = { ...known, listing, lastSeenAt: this.now, missing: 0 };
    if (isPriceChange(previous, listing.price)) {
      return this.recordChange({ ...one, priceChanges: known.priceChanges + 1 }, 'price_changed', previous);
    }
    this.recordSighting(one);
  }

  /** Stores a listing without a change. Adds a sighting, unless the day already has a sighting or a change. */
  private recordSighting(one: Followed): void {
    const isToday = ({ at }: { at: number }) => dayOf(at) === dayOf(this.now);
    if (one.sightings.some(isToday) || one.changes.some(isToday)) return this.store(one);
    const sighting = { at: this.now, price: one.listing.price };
    this.store({ ...one, sightings: [...one.sightings, sighting].slice(-MAX_SIGHTINGS) });
  }

  /**
   * True if a listing that was in no list before is new: in one of the scans, it is before `newUpTo` (see `Places`).
   * For a listing that the scans contain only as promoted, the time of its photo decides.
   */
  private isNew({ id, photoUploadedAt }: Listing): boolean {
    if (!this.before) return false;
    const placed = this.compared.filter(({ indexes }) => indexes.has(id));
    if (placed.length > 0) {
      return placed.some(({ places, indexes }) => places && (indexes.get(id) ?? Infinity) < places.newUpTo);
    }
    // A promoted listing can appear anywhere, so only the time of its photo can show that the listing is new.
    return Date.parse(photoUploadedAt ?? '') > this.before.scannedAt - PHOTO_LEAD_MS;
  }

  /**
   * Returns the number of this appearance of a new listing, from which the id of its item is made. Usually it is 1. But
   * if the photo was older than the history at the previous scan, the listing can have appeared before, and watches can
   * still remember the ids of its earlier appearances. Then the number is the age of the photo in days at that scan. No
   * earlier appearance had this number, so the id is new. The time of this scan has no influence, so that a repeated
   * read gives the same id.
   */
  private appearanceOf({ photoUploadedAt }: Listing): number {
    const uploadedAt = Date.parse(photoUploadedAt ?? '');
    const scannedAt = this.before?.scannedAt ?? this.now;
    return scannedAt - uploadedAt > KEPT_MS ? dayOf(scannedAt) - dayOf(uploadedAt) : 1;
  }

  /**
   * Handles a listing that no scan contains. The listing counts as missing only if the scans have passed its place in
   * every list that contained the listing. If no list contained it, all scans must have reached the end.
   */
  private recordMissing(id: string, one: Followed): void {
    // A listing that was seen only as promoted has no place in a list, so no scan can pass it. It has not been reported
    // as new either.
    if (one.unplaced) return;
    const lists = this.compared.filter(({ places }) => places?.contained(id));
    const passed =
      lists.length > 0
        ? lists.every(({ places }) => places?.hasPassed(id))
        : this.compared.every(({ scan }) => scan.whole);
    if (!passed) return;
    const missing = one.missing + 1;
    if (missing < MISSED_SCANS_UNTIL_GONE && !this.confirmedGone.has(id)) {
      this.doubtful.push(id);
      return this.store({ ...one, missing });
    }
    this.recordChange({ ...one, missing, gone: true }, 'delisted');
  }

  private recordChange(one: Followed, kind: ChangeKind, previous?: Money): void {
    const change: ListingChange = {
      kind,
      at: this.now,
      n: kind === 'price_changed' ? one.priceChanges : one.listed,
      price: one.listing.price,
      previous,
    };
    this.store({ ...one, changes: [...one.changes, change] });
  }

  private present(): string[] {
    const indexOf = (id: string) =>
      Math.min(...this.compared.map(({ indexes }) => indexes.get(id) ?? Infinity));
    const indexes = new Map([...this.seen.keys()].map((id) => [id, indexOf(id)]));
    // Equal indexes are compared first, because Infinity minus Infinity is NaN. Promoted listings (Infinity) keep the
    // order in which they were found.
    return [...indexes].sort(([, a], [, b]) => (a === b ? 0 : a - b)).map(([id]) => id);
  }

  private store(one: Followed): void {
    this.followed.set(one.listing.id, one);
  }

  private lists(): Map<string, KnownList> {
    return new Map(
      this.compared.map(({ scan, places, indexes }) => {
        const dropped = new Set(
          [...this.followed.values()]
            .filter(({ listing: { id }, gone }) => gone || this.isElsewhere(id, scan, places))
            .map(({ listing }) => listing.id),
        );
        const order = places ? places.order(dropped) : [...indexes.keys()];
        return [scan.phrase, { order, whole: scan.whole }];
      }),
    );
  }

  /** True if the listing was seen in another list but has left this list, because it no longer matches this phrase. */
  private isElsewhere(id: string, scan: Scan, places: Places | undefined): boolean {
    const here = scan.promoted.some((listing) => listing.id === id);
    return this.seen.has(id) && !here && places?.hasPassed(id) === true;
  }
}
