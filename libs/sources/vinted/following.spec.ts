import { OutboundError } from '#http-out';
import { fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { catalogItem, listingId, serveVisit } from './testing/fixtures.js';
import { news, search, vinted } from './testing/search.js';

describe('following listings of Vinted', () => {
  it('first reports the current listings, and then new ones', async () => {
    const { site, read } = search(2, 1);
    expect(news(await read(0))).toEqual([`listing.created ${vinted(2)}`, `listing.created ${vinted(1)}`]);
    site.entries.unshift(catalogItem(3));
    const fetched = await read(10, 0);
    expect(news(fetched)).toEqual([`listing.created ${vinted(3)}`]);
    expect(fetched.items[0]?.happenedAt).toBe('2026-03-04T12:10:00.000Z');
    expect(fetched.observations?.map(({ kind }) => kind?.value)).toMatchObject([
      { listingId: listingId(3), event: 'created', firstSeenAt: '2026-03-04T12:10:00.000Z' },
    ]);
  });

  it('reports all changes since the last read of a watch, independently of the reads of other watches', async () => {
    const { site, read } = search(2, 1);
    await read(0);
    site.entries[0] = catalogItem(2, { price: { amount: '15.0', currency_code: 'EUR' } });
    await read(10, 0);
    site.entries.unshift(catalogItem(3));
    await read(20, 10);
    site.entries[1] = catalogItem(2, { price: { amount: '12.5', currency_code: 'EUR' } });
    const fetched = await read(30, 0);
    expect(news(fetched)).toEqual([
      `listing.price_changed ${vinted(2)}:price:12.50:2`,
      `listing.created ${vinted(3)}`,
      `listing.price_changed ${vinted(2)}:price:15.00:1`,
    ]);
    expect(fetched.items.map(({ previousPrice }) => previousPrice)).toEqual([15, undefined, 20]);
    expect(fetched.items.map(({ bodyJson }) => (JSON.parse(bodyJson) as { price: number }).price)).toEqual([
      12.5, 20, 15,
    ]);
    expect(news(await read(40, 30))).toEqual([`listing.price_changed ${vinted(2)}:price:12.50:2`]);
  });

  it('reads the list only once if one watch is new and another is not', async () => {
    const { site, read, paths } = search(2, 1);
    await read(0);
    site.entries.unshift(catalogItem(3));
    const sharedReads = new Map<string, Promise<unknown>>();
    const shared: FetchContext['shared'] = <T>(key: string, run: () => Promise<T>) => {
      if (!sharedReads.has(key)) sharedReads.set(key, run());
      return sharedReads.get(key) as Promise<T>;
    };
    paths();
    const before = structuredClone(site.state);
    expect(news(await read(10, 0, { shared }))).toEqual([`listing.created ${vinted(3)}`]);
    site.state = before;
    expect(news(await read(10, undefined, { shared }))).toEqual(
      [3, 2, 1].map((n) => `listing.created ${vinted(n)}`),
    );
    expect(paths()).toEqual(['/api/v2/catalog/items']);
  });

  it('does not report a changed exchange rate as a price change', async () => {
    const converted = (amount: string, sellerPrice: string, sellerCurrency = 'PLN') =>
      catalogItem(1, {
        price: { amount, currency_code: 'EUR' },
        conversion: { seller_price: sellerPrice, seller_currency: sellerCurrency },
      });
    const { site, read } = search();
    site.entries = [converted('4.71', '20.0')];
    await read(0);
    site.entries = [converted('4.69', '20')];
    expect(news(await read(10, 0))).toEqual([]);
    site.entries = [converted('4.69', '18.0')];
    const changed = await read(20, 10);
    expect(news(changed)).toEqual([`listing.price_changed ${vinted(1)}:price:18.00:1`]);
    const [item] = changed.items;
    expect(JSON.parse(item?.bodyJson ?? '')).toMatchObject({
      currency: 'PLN',
      previousPrice: 20,
      previousCurrency: 'PLN',
    });
  });

  it('does not report another currency as a price change, with or without a conversion', async () => {
    const conversion = { seller_price: '20.0', seller_currency: 'PLN' };
    const euros = { amount: '4.71', currency_code: 'EUR' };
    const { site, read } = search();
    site.entries = [catalogItem(1, { price: euros, conversion })];
    await read(0);
    site.entries = [catalogItem(1, { price: euros, conversion: null })];
    expect(news(await read(10, 0))).toEqual([]);
    site.entries = [catalogItem(1, { price: { amount: '4.5', currency_code: 'EUR' } })];
    const changed = await read(20, 10);
    expect(news(changed)).toEqual([`listing.price_changed ${vinted(1)}:price:4.50:1`]);
    expect(changed.items[0]?.previousPrice).toBe(4.71);
    site.entries = [catalogItem(1, { price: euros, conversion })];
    const fetched = await read(40, 30);
    expect([news(fetched), fetched.observations]).toEqual([[], undefined]);
  });

  it('does not report an edited listing as new', async () => {
    const { site, read } = search(1);
    await read(0);
    site.entries = [catalogItem(1, { title: 'A better lamp', favourite_count: 9 })];
    expect(news(await read(10, 0))).toEqual([]);
    site.entries = [catalogItem(1, { title: 'A better lamp', price: { amount: '9', currency_code: 'EUR' } })];
    expect((await read(20, 10)).items[0]?.title).toBe('A better lamp');
  });
});

describe('a listing that is missing', () => {
  it('is requested on its own page, and is gone if that page does not exist', async () => {
    const { site, read, paths } = search(3, 2, 1);
    await read(0);
    paths();
    site.entries.splice(1, 1);
    site.page = { status: 404, body: '<html>Gone</html>' };
    const fetched = await read(10, 0);
    expect(news(fetched)).toEqual([`listing.delisted ${vinted(2)}:delisted:1`]);
    expect(paths()).toEqual(['/api/v2/catalog/items', `/items/${listingId(2)}`]);
    expect(fetched.items[0]).toMatchObject({ title: 'Lamp number 2', author: 'ada_b' });
    expect(JSON.parse(fetched.items[0]?.bodyJson ?? '')).toMatchObject({ price: 20, currency: 'EUR' });
    expect(fetched.observations?.map(({ kind }) => kind?.value)).toMatchObject([
      { listingId: listingId(2), event: 'delisted', price: '20.00' },
    ]);
  });

  it.each<[string, FakeAnswer]>([
    ['is there', { status: 200, body: '<html>Sold</html>' }],
    ['redirects to the address with its title', { status: 301, headers: { location: '/items/1-lamp' } }],
    ['is refused', { status: 403 }],
    ['does not answer', new OutboundError('timeout', 'too late')],
  ])('is gone after the second scan that misses it, even if its page %s', async (_, page) => {
    const { site, read } = search(3, 2, 1);
    await read(0);
    site.entries.splice(1, 1);
    site.page = page;
    expect(news(await read(10, 0))).toEqual([]);
    expect(news(await read(20, 10))).toEqual([`listing.delisted ${vinted(2)}:delisted:1`]);
  });

  it('is not requested on its own page if the read has already requested the pages of two others', async () => {
    const { site, read, paths } = search(5, 4, 3, 2, 1);
    await read(0);
    paths();
    site.entries = site.entries.slice(0, 1);
    await read(10, 0);
    expect(paths().length).toBe(3);
    expect((await read(20, 10)).items.length).toBe(4);
    expect(paths().length).toBe(1);
  });
});

describe('the stored state of a search of Vinted', () => {
  it('consists only of the history, which all watches share', async () => {
    const { site, read } = search(1);
    await read(0);
    expect(Object.keys(site.state)).toEqual(['history']);
  });

  it('is rebuilt from the listings that watches have seen, if it was lost', async () => {
    const entries = Array.from({ length: 400 }, (_, n) => 400 - n);
    const { read } = search(...entries);
    const known = (itemId: string) => Number(itemId.split(':')[2]) <= 7_000_000_390;
    const fetched = await read(0, -60, { known });
    expect(news(fetched)).toEqual(Array.from({ length: 10 }, (_, n) => `listing.created ${vinted(400 - n)}`));
    expect(fetched.gap).toBe(false);
    // A watch with a longer interval can have missed changes that were in the lost history.
    expect((await read(10, -60)).gap).toBe(true);
    expect((await read(20, 10)).gap).toBe(false);
  });

  it('cannot be rebuilt if watches have seen no listing, which causes a gap', async () => {
    const { read } = search(...Array.from({ length: 400 }, (_, n) => 400 - n));
    const fetched = await read(0, -60);
    expect([fetched.items.length, fetched.gap]).toEqual([288, true]);
  });

  it('contains the gap of an earlier read, which a watch with a longer interval then gets', async () => {
    const { site, read } = search(...Array.from({ length: 20 }, (_, n) => n));
    await read(0);
    site.entries = Array.from({ length: 1_000 }, (_, n) => catalogItem(5_000 - n));
    expect((await read(10, 0, { pageCap: 4 })).gap).toBe(true);
    expect((await read(20, 10)).gap).toBe(false);
    expect((await read(30, 0)).gap).toBe(true);
  });

  it('is unchanged if a page cannot be read', async () => {
    const { site, read } = search(1);
    await read(0);
    const before = structuredClone(site.state);
    const failing = fakeUpstream('vinted', (request) => serveVisit(request) ?? { status: 503 });
    await expect(read(10, 0, { http: failing.http })).rejects.toMatchObject({ kind: 'server_error' });
    expect(site.state).toEqual(before);
  });
});

describe('a listing that appears after 40 days', () => {
  it('is reported with other ids if it was gone before, because watches still remember its first ids', async () => {
    const day = 24 * 60;
    const { site, read } = search(3, 2, 1);
    await read(0);
    site.page = { status: 404, body: '<html>Gone</html>' };
    site.entries.splice(1, 1);
    expect(news(await read(day, 0))).toEqual([`listing.delisted ${vinted(2)}:delisted:1`]);
    for (let n = 2; n <= 40; n += 1) await read(n * day, (n - 1) * day);
    site.entries.unshift(catalogItem(2));
    expect(news(await read(41 * day, 40 * day))).toEqual([`listing.created ${vinted(2)}:listed:40`]);
    site.entries.shift();
    expect(news(await read(42 * day, 41 * day))).toEqual([
      `listing.delisted ${vinted(2)}:delisted:40`,
      `listing.created ${vinted(2)}:listed:40`,
    ]);
  });

  it('is reported with a new id, even if it was gone and returned several times before', async () => {
    const day = 24 * 60;
    const { site, read } = search(3, 2, 1);
    const { page } = site;
    const ids: string[] = [];
    await read(0);
    for (let n = 1; n <= 5; n += 1) {
      site.page = n % 2 === 1 ? { status: 404, body: '<html>Gone</html>' } : page;
      if (n % 2 === 1) site.entries = site.entries.filter(({ id }) => id !== catalogItem(2)['id']);
      else site.entries.unshift(catalogItem(2));
      ids.push(...news(await read(n * day, (n - 1) * day)));
    }
    for (let n = 6; n <= 45; n += 1) await read(n * day, (n - 1) * day);
    site.entries.unshift(catalogItem(2));
    const [again] = news(await read(46 * day, 45 * day));
    expect(again).toMatch(/^listing.created .*:listed:/);
    expect(ids).not.toContain(again);
  });

  it('is reported with the same id if the read that found it is repeated on the next day', async () => {
    const day = 24 * 60;
    const { site, read } = search(2, 1);
    await read(0);
    for (let n = 1; n <= 40; n += 1) await read(n * day, (n - 1) * day);
    site.entries.unshift(catalogItem(3));
    const before = structuredClone(site.state);
    const first = news(await read(41 * day, 40 * day));
    site.state = before;
    expect(news(await read(42 * day, 40 * day))).toEqual(first);
  });
});
