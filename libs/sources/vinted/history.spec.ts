import { readHistory, writeHistory } from './history.js';
import { catalogItem, catalogPage, lamps, reading } from './testing/fixtures.js';
import { FR, START, TEN_MINUTES, followed, ids, stored } from './testing/site.js';

describe('a sighting of a listing', () => {
  it('is recorded once on each UTC day', async () => {
    const following = await followed('b', 'a');
    following.at = Date.parse('2026-03-04T23:50:00Z');
    await following.scan();
    expect(following.observed).toEqual([]);
    await following.scan();
    expect(following.observed).toEqual(['seen b', 'seen a']);
    following.site.price('a', 100);
    await following.scan();
    expect(following.observed).toEqual(['price_changed a']);
  });
});

describe('the history', () => {
  it('drops changes after 31 days, and records until when changes are missing', async () => {
    const following = await followed('b', 'a');
    following.site.take('a');
    await following.scan();
    await following.scan();
    const goneAt = START + 2 * TEN_MINUTES;
    expect(following.report(START)).toEqual(['delisted a:delisted:1']);
    following.at = goneAt + 31 * 86_400_000;
    await following.scan();
    expect([...following.history!.followed.keys()]).toEqual(['b', 'a']);
    following.at = goneAt + 32 * 86_400_000;
    await following.scan();
    expect([...following.history!.followed.keys()]).toEqual(['b']);
    expect(following.history?.missedUntil).toBe(goneAt);
  });

  it('keeps the last twenty changes of a listing', async () => {
    const following = await followed('a');
    for (let n = 1; n <= 25; n += 1) {
      following.site.price('a', 2_000 + n);
      await following.scan();
    }
    expect(following.report(START).length).toBe(20);
    expect(following.report(START)[0]).toBe('price_changed a:price:20.25:25');
    expect(following.history?.missedUntil).toBe(START + 5 * TEN_MINUTES);
  });

  it('keeps at most 3,000 listings, including all current listings', async () => {
    const following = await followed(...ids(500));
    for (let n = 0; n < 12; n += 1) {
      following.site.offers = following.site.offers.slice(0, 200);
      following.site.put(...ids(300, `wave${n}-`));
      await following.scan({ atLeast: 200, atMost: 200 });
    }
    const { followed: all, missedUntil } = following.history!;
    expect(all.size).toBe(3_000);
    expect(following.last?.present.every((id) => all.has(id))).toBe(true);
    expect(missedUntil).toBeGreaterThan(START);
    expect(JSON.stringify(writeHistory(following.history!, FR)).length).toBeLessThan(1_000_000);
  });

  it.each([[undefined], [{}], [{ v: 0, at: 1, lists: {}, items: {} }], [{ v: 2, lists: {} }], ['x']])(
    'is undefined if it cannot be read: %j',
    (value) => {
      expect(readHistory(value, FR)).toBeUndefined();
    },
  );

  it('is the same after it was stored and read again', async () => {
    const following = await followed('b', 'a');
    following.site.price('a', 1);
    following.site.take('b');
    await following.scan();
    await following.scan();
    const { history } = following.last!;
    expect(writeHistory(stored(history), FR)).toEqual(writeHistory(history, FR));
    expect(stored(history).followed.get('a')).toEqual(history.followed.get('a'));
    expect(stored(history).followed.get('a')?.sightings).toEqual([
      { at: START, price: { amount: '20.00', currency: 'EUR' } },
    ]);
  });

  it.each([
    ['https://www.vinted.fr/items/7-a-lamp', '-a-lamp'],
    ['https://www.vinted.fr/items/7', ''],
    ['https://www.vinted.fr/items/7http', 'https://www.vinted.fr/items/7http'],
    ['https://lamps.example/7', 'https://lamps.example/7'],
  ])('keeps the part of the address %s that cannot be derived from the id', async (url, kept) => {
    const { history } = (await followed('7')).last!;
    const one = history.followed.get('7')!;
    const moved = { ...history, followed: new Map([['7', { ...one, listing: { ...one.listing, url } }]]) };
    const { items } = writeHistory(moved, FR) as { items: Record<string, { u?: string }> };
    expect(items['7']?.u ?? '').toBe(kept);
    expect(stored(moved).followed.get('7')?.listing.url).toBe(url);
  });

  it('keeps no photo of a listing that has only moved out of the scanned part', async () => {
    const { history } = (await followed('b', 'a')).last!;
    const photo = 'https://images.lamps.example/a';
    const photos = (lastSeenAt: number, missing = 0) => {
      const one = history.followed.get('a')!;
      const listing = { ...one.listing, photos: [photo] };
      const all = new Map([['a', { ...one, listing, lastSeenAt, missing }]]);
      return stored({ ...history, followed: all }).followed.get('a')?.listing.photos;
    };
    expect([photos(START), photos(START - 1), photos(START - 1, 1)]).toEqual([[photo], [], [photo]]);
  });

  it('takes fewer than 270 characters for a listing on average', async () => {
    const entries = Array.from({ length: 288 }, (_, n) => catalogItem(n));
    const state = {};
    await reading(lamps, (request) => ({ body: catalogPage(entries, request) }), { state }).read;
    expect(JSON.stringify(state).length / 288).toBeLessThan(270);
  });
});
