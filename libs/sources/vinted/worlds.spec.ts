import fc from 'fast-check';
import { follow, type Followup } from './follow.js';
import type { History } from './history.js';
import { START, Site, observed, reportedOf, stored } from './testing/site.js';
import type { Money } from './price.js';
import { reportSince } from './report.js';
import type { Scan } from './scan.js';

// A world is an invented site with random changes and reads.

/** One change of the site. `at` is an index of its current listings; for `return`, of the listings that were taken. */
type Change =
  | { do: 'put'; count: number }
  | { do: 'take' | 'bump' | 'return'; at: number }
  | { do: 'price'; at: number; cents: number; currency: string };

/** One step of a world: changes of the site, then a read. */
interface Step {
  changes: Change[];
  /** `whole`: up to 100 pages. `short`: up to three pages. `fails`: nothing is read. */
  read: 'whole' | 'short' | 'fails';
  /** Minutes after the previous step. */
  after: number;
}

const at = fc.nat({ max: 40 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constant('put' as const), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constantFrom('take' as const, 'return' as const), at }),
  fc.record({
    do: fc.constant('price' as const),
    at,
    cents: fc.integer({ min: 1, max: 4 }),
    // Sometimes the same listing is shown in another currency.
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'PLN'),
  }),
);
const step: fc.Arbitrary<Step> = fc.record({
  changes: fc
    .tuple(fc.array(change, { maxLength: 5 }), fc.option(fc.record({ do: fc.constant('bump' as const), at })))
    .map(([changes, bump]) => (bump ? [...changes, bump] : changes)),
  read: fc.constantFrom('whole', 'whole', 'short', 'fails'),
  after: fc.constantFrom(10, 10, 240, 700),
});
const world = fc.record({
  size: fc.integer({ min: 0, max: 40 }),
  steps: fc.array(step, { minLength: 1, maxLength: 14 }),
});

/** A read that did not fail, with its input and its result. */
interface Read {
  at: number;
  scan: Scan;
  before: History | undefined;
  followup: Followup;
  /** Ids of all listings that the site had at the read, even if the scan did not reach them. */
  there: ReadonlySet<string>;
}

/**
 * With five moved listings in their old order, a scan could stop too early, and would miss new listings: see
 * `MIN_KEPT_ORDER` in places.ts.
 */
const MAX_MOVED = 4;

async function readsOf({ size, steps }: { size: number; steps: readonly Step[] }): Promise<Read[]> {
  const site = new Site(Array.from({ length: size }, (_, n) => `first${n}`));
  const taken: string[] = [];
  const reads: Read[] = [];
  let history: History | undefined;
  /** How many listings were moved to the top (`bump`, or `take` and `return`) since the last read that did not fail. */
  let moved = 0;
  let puts = 0;
  let time = START;
  for (const { changes, read, after } of [{ changes: [], read: 'whole' as const, after: 0 }, ...steps]) {
    time += after * 60_000;
    const mayMove = () => moved < MAX_MOVED;
    for (const one of changes) {
      const offer = 'at' in one ? site.offers[one.at] : undefined;
      if (one.do === 'put') site.put(...Array.from({ length: one.count }, () => `put${(puts += 1)}`));
      else if (one.do === 'price' && offer) site.price(offer.id, one.cents * 100, one.currency);
      else if (one.do === 'bump' && offer && mayMove()) {
        site.bump(offer.id);
        moved += 1;
      } else if (one.do === 'take' && offer) {
        site.take(offer.id);
        taken.push(offer.id);
      } else if (one.do === 'return' && taken.length > 0 && mayMove()) {
        site.put(taken.splice(one.at % taken.length, 1)[0]!);
        moved += 1;
      }
    }
    if (read === 'fails') continue;
    moved = 0;
    const depth = { atLeast: 2, atMost: read === 'short' ? 3 : 100 };
    const scan = await site.scan(history, depth);
    const now = new Date(time);
    const before = history;
    const followup = follow({ before, scans: [scan], now });
    history = stored(followup.history);
    const there = new Set(site.offers.map(({ id }) => id));
    reads.push({ at: now.getTime(), scan, before, followup, there });
  }
  return reads;
}

function itemsOf({ followup }: Read, since: number) {
  return reportSince(new Date(since), reportedOf(followup));
}

function newsOf(read: Read): { kind: string; id: string; itemId: string; from?: number | undefined }[] {
  return itemsOf(read, read.at - 1).map(({ eventType, bodyJson, itemId, previousPrice }) => ({
    kind: eventType.replace('listing.', ''),
    id: (JSON.parse(bodyJson) as { id: string }).id,
    itemId,
    from: previousPrice,
  }));
}

function rowsOf({ followup }: Pick<Read, 'followup'>, since?: number): string[] {
  return observed(followup, since).map((row) => JSON.stringify(row));
}

const forAnyWorld = (checkReads: (reads: Read[]) => void) =>
  fc.assert(
    fc.asyncProperty(world, async (one) => {
      checkReads(await readsOf(one));
    }),
    { numRuns: 50 },
  );

describe('for any changes of listings between reads', () => {
  it('a read reports each changed price, unless the currency changed or the listing was gone', async () => {
    await forAnyWorld((reads) => {
      const prices = new Map<string, Money>();
      for (const read of reads) {
        const news = newsOf(read);
        const reported = news
          .filter(({ kind }) => kind === 'price_changed')
          .map(({ id, from }) => `${id} ${from}`);
        const moved = read.scan.placed.flatMap(({ id, price }) => {
          const before = prices.get(id);
          const moved = before?.currency === price.currency && before.amount !== price.amount;
          return moved ? [`${id} ${Number(before.amount)}`] : [];
        });
        expect(reported.sort()).toEqual(moved.sort());
        for (const { id, price } of read.scan.placed) prices.set(id, price);
        for (const { id, kind } of news) if (kind === 'delisted') prices.delete(id);
      }
    });
  });

  it('a listing is reported as gone only after two complete reads in a row have not found it', async () => {
    await forAnyWorld((reads) => {
      reads.forEach((read, index) => {
        for (const { kind, id } of newsOf(read)) {
          if (kind !== 'delisted') continue;
          expect(read.there.has(id)).toBe(false);
          const complete = reads.slice(0, index + 1).filter(({ scan }) => scan.complete);
          const [last, previous] = complete.reverse();
          expect(last).toBe(read);
          expect(previous?.followup.history.followed.get(id)?.missing).toBe(1);
          expect(previous?.there.has(id)).toBe(false);
        }
      });
    });
  });

  it('a listing is gone if the last two reads reached the end of the list and did not find it', async () => {
    await forAnyWorld((reads) => {
      const [last, previous] = [...reads].reverse();
      if (!last?.scan.whole || !previous?.scan.whole || !last.before) return;
      const gone = [...last.before.followed.keys()].filter(
        (id) => !last.there.has(id) && !previous.there.has(id),
      );
      for (const id of gone) expect(last.followup.history.followed.get(id)?.gone ?? true).toBe(true);
    });
  });

  it('each appearance of a listing after the first read is reported once if all reads are complete', async () => {
    await forAnyWorld((reads) => {
      const created = reads.flatMap((read) => newsOf(read).filter(({ kind }) => kind === 'created'));
      expect(new Set(created.map(({ itemId }) => itemId)).size).toBe(created.length);
      const inSight = new Set(reads[0]?.scan.placed.map(({ id }) => id));
      const old = created.filter(({ id, itemId }) => inSight.has(id) && !itemId.includes(':listed:'));
      expect(old).toEqual([]);
      const reportedIds = new Set(created.map(({ id }) => id));
      if (!reads.every(({ scan }) => scan.complete)) return;
      const seen = new Set(reads.flatMap(({ scan }) => scan.placed.map(({ id }) => id)));
      for (const id of seen) if (id.startsWith('put')) expect(reportedIds.has(id)).toBe(true);
    });
  });

  it('a watch that skips reads gets the same items in the end as a watch that takes part in all reads', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(fc.boolean(), { maxLength: 15 }), async (one, takesPart) => {
        const reads = await readsOf(one);
        const often: string[] = [];
        const seldom: string[] = [];
        let since = reads[0]?.at ?? 0;
        reads.slice(1).forEach((read, index) => {
          often.push(...itemsOf(read, reads[index]?.at ?? 0).map(({ itemId }) => itemId));
          if (!takesPart[index] && index < reads.length - 2) return;
          seldom.push(...itemsOf(read, since).map(({ itemId }) => itemId));
          since = read.at;
        });
        expect(seldom.sort()).toEqual(often.sort());
        expect(new Set(often).size).toBe(often.length);
      }),
      { numRuns: 50 },
    );
  });

  it('a watch that skips reads for up to 24 hours gets the same observations as a watch that skips none', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(fc.boolean(), { maxLength: 15 }), async (one, takesPart) => {
        const reads = await readsOf(one);
        const often = new Set<string>();
        const seldom = new Set<string>();
        let since = reads[0]?.at ?? 0;
        reads.slice(1).forEach((read, index) => {
          for (const row of rowsOf(read, reads[index]?.at)) often.add(row);
          const next = reads[index + 2]?.at ?? Infinity;
          if (!takesPart[index] && next - since <= 86_400_000) return;
          for (const row of rowsOf(read, since)) seldom.add(row);
          since = read.at;
        });
        expect([...seldom].sort()).toEqual([...often].sort());
      }),
      { numRuns: 80 },
    );
  });

  it('a first poll returns one observation of each current listing, which stays the same if nothing changes', async () => {
    await forAnyWorld((reads) => {
      reads.forEach(({ followup, at: time }, index) => {
        const rows = observed(followup);
        expect(rows.map(({ listingId }) => listingId)).toEqual(followup.present);
        for (const { event, observedAt = '' } of rows) {
          expect(event).toBe('seen');
          expect(observedAt.slice(0, 10)).toBe(new Date(time).toISOString().slice(0, 10));
        }
        const next = reads[index + 1];
        if (!next || rows.length === 0) return;
        // A row can differ if the listing has changed, has its first sighting of a new day, or was not in the earlier
        // read.
        const changedIds = new Set(observed(next.followup, time).map(({ listingId }) => listingId));
        const before = new Set(rowsOf({ followup }));
        for (const row of observed(next.followup)) {
          if (changedIds.has(row.listingId) || !followup.present.includes(row.listingId ?? '')) continue;
          expect(before.has(JSON.stringify(row))).toBe(true);
        }
      });
    });
  });

  it('a read that is repeated because its result was lost returns items with the same ids', async () => {
    await forAnyWorld((reads) => {
      for (const { before, scan, at: time, followup } of reads) {
        const again = follow({
          before: before && stored(before),
          scans: [scan],
          now: new Date(time + 60_000),
        });
        const ids = (of: Followup, from: number) =>
          itemsOf({ followup: of } as Read, from).map(({ itemId }) => itemId);
        expect(ids(again, time - 1)).toEqual(ids(followup, time - 1));
      }
    });
  });

  it('the history has only listings that were read, and its list contains no listing twice and no listing that is gone', async () => {
    await forAnyWorld((reads) => {
      const seen = new Set<string>();
      for (const { scan, followup } of reads) {
        for (const { id } of scan.placed) seen.add(id);
        const { lists, followed } = followup.history;
        const order = lists.get('lamp')?.order ?? [];
        expect(new Set(order).size).toBe(order.length);
        expect([...followed.keys()].every((id) => seen.has(id))).toBe(true);
        expect(order.every((id) => followed.get(id)?.gone === false)).toBe(true);
      }
    });
  });
});
