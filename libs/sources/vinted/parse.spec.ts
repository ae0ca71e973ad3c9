import { marketOf, parseCatalog } from './index.js';
import { catalogItem } from './testing/fixtures.js';
import { decimalOf, isSamePrice, priceOf, sellersPriceOf } from './price.js';

const fr = marketOf('fr')!;
const one = (more: Record<string, unknown> = {}) =>
  parseCatalog({ items: [catalogItem(1, more)] }, fr).listings[0];

describe('the market', () => {
  it.each([
    ['fr', 'fr', 'https://www.vinted.fr', 'EUR'],
    [' PL ', 'pl', 'https://www.vinted.pl', 'PLN'],
    ['co.uk', 'uk', 'https://www.vinted.co.uk', 'GBP'],
    ['GB', 'uk', 'https://www.vinted.co.uk', 'GBP'],
    ['com', 'us', 'https://www.vinted.com', 'USD'],
    ['us', 'us', 'https://www.vinted.com', 'USD'],
  ])('for the text %j is %s, at %s, with prices in %s', (text, code, origin, currency) => {
    expect(marketOf(text)).toEqual({ code, origin, currency });
  });

  it.each([undefined, '', 'jp', 'worldwide', 'constructor', '__proto__'])(
    'does not exist for the text %j',
    (text) => {
      expect(marketOf(text)).toBeUndefined();
    },
  );
});

describe('prices', () => {
  it.each([
    ['in the format since 2025', { price: { amount: '20.0', currency_code: 'PLN' } }, '20.00', 'PLN'],
    ['in the format of 2023', { price: '35.0', currency: 'EUR' }, '35.00', 'EUR'],
    ['in the format of 2021', { price: '4,00 €', price_numeric: '4.0', currency: 'EUR' }, '4.00', 'EUR'],
    ['as text for people', { price: '1.234,50 zł', currency: 'PLN' }, '1234.50', 'PLN'],
    ['as a number without a currency', { price: 7 }, '7.00', 'EUR'],
  ])('can be %s', (_, entry, amount, currency) => {
    expect(priceOf(entry, 'EUR')).toEqual({ amount, currency });
  });

  it.each([
    ['0.1', '0.10'],
    ['007', '7.00'],
    ['12.345', '12.345'],
    ['12.500', '12.50'],
    ['9999999999999999.99', '9999999999999999.99'],
    ['$1,234.50', '1234.50'],
    ['1\u00a0234,5 kr', '1234.50'],
    ['1,234 €', '1234.00'],
    [12.5, '12.50'],
    [0, '0.00'],
  ])('are converted without a loss of digits: %j to %s', (value, decimal) => {
    expect(decimalOf(value)).toBe(decimal);
  });

  it.each([['free'], [''], [null], [undefined], [Number.NaN], [-3], [1e21], [{}], ['3 to 4']])(
    'are not found in %j',
    (value) => {
      expect(decimalOf(value)).toBeUndefined();
    },
  );

  it('are equal if they differ only in zeros at the end, but not if their currencies differ', () => {
    const euros = (amount: string) => priceOf({ price: amount, currency: 'EUR' }, 'EUR')!;
    expect(isSamePrice(euros('20.0'), euros('20'))).toBe(true);
    expect(isSamePrice(euros('20.0'), euros('20.01'))).toBe(false);
    expect(isSamePrice(euros('20'), { amount: '20.00', currency: 'PLN' })).toBe(false);
  });

  it("are the seller's price and the price that the market shows, if the price is converted", () => {
    const conversion = { seller_price: '20.0', seller_currency: 'EUR', fx_rounded_rate: '4.31' };
    const entry = { price: { amount: '86.28', currency_code: 'PLN' }, conversion };
    expect(sellersPriceOf(entry)).toEqual({ amount: '20.00', currency: 'EUR' });
    expect(one(entry)).toMatchObject({
      price: { amount: '20.00', currency: 'EUR' },
      shown: { amount: '86.28', currency: 'PLN' },
    });
    expect(one({ conversion: null })?.shown).toBeUndefined();
  });
});

describe('currencies', () => {
  it.each(['eur', 'EURO', '€', '<b>', 'E\u200bU'])(
    'make the listing unreadable if they are not three capital letters: %j',
    (currency_code) => {
      const converted = { seller_price: '20.0', seller_currency: currency_code };
      for (const more of [{ price: { amount: '20.0', currency_code } }, { conversion: converted }]) {
        const { listings, warnings } = parseCatalog({ items: [catalogItem(1), catalogItem(2, more)] }, fr);
        expect([listings.map(({ id }) => id), warnings]).toEqual([
          ['7000000001'],
          [expect.stringContaining('an unknown currency')],
        ]);
      }
    },
  );
});

describe('entries of the catalogue', () => {
  it('are read', () => {
    expect(one()).toEqual({
      id: '7000000001',
      itemId: 'vinted:fr:7000000001',
      title: 'Lamp number 1',
      description: undefined,
      url: 'https://www.vinted.fr/items/7000000001-lamp-number-1',
      price: { amount: '20.00', currency: 'EUR' },
      shown: undefined,
      brand: 'Byron',
      size: 'M',
      condition: 'Très bon état',
      favourites: 3,
      seller: { id: '81', login: 'ada_b', isBusiness: false },
      photos: ['https://images.lamps.example/1.webp?s=1'],
      photoUploadedAt: '2026-03-04T04:53:20.000Z',
      isPromoted: false,
    });
  });

  it('can have no photo, seller, size and brand', () => {
    expect(one({ photo: null, user: null, size_title: '', brand_title: '' })).toMatchObject({
      photos: [],
      photoUploadedAt: undefined,
      seller: undefined,
      size: undefined,
      brand: undefined,
    });
  });

  it('contain one photo or, since 2026, a list of photos', () => {
    const photos = [
      { url: 'https://images.lamps.example/a', high_resolution: { timestamp: 1_772_000_000 } },
      { url: 'https://images.lamps.example/b' },
    ];
    expect(one({ photo: undefined, photos })).toMatchObject({
      photos: ['https://images.lamps.example/a', 'https://images.lamps.example/b'],
      photoUploadedAt: '2026-02-25T06:13:20.000Z',
    });
  });

  it('are marked if the seller has a business', () => {
    expect(one({ user: { id: 9, login: 'lamps_gmbh', business: true } })?.seller).toEqual({
      id: '9',
      login: 'lamps_gmbh',
      isBusiness: true,
    });
  });

  it.each([[{ promoted: true }], [{ content_source: 'search_promoted_items' }]])(
    'are marked if they are promoted: %j',
    (more) => {
      expect(one(more)?.isPromoted).toBe(true);
    },
  );

  it('get an address from their path or their id if they have no valid address', () => {
    expect(one({ url: undefined })?.url).toBe('https://www.vinted.fr/items/7000000001-lamp-number-1');
    expect(one({ url: 'javascript:1', path: undefined })?.url).toBe('https://www.vinted.fr/items/7000000001');
  });

  it.each(['https://', 'https://[lamp', 'http://a b/'])('can have an invalid address: %j', (url) => {
    expect(one({ url, path: '//[', photo: { url } })).toMatchObject({
      url: 'https://www.vinted.fr//[',
      photos: [],
    });
  });

  it('are counted if they cannot be read, while the other entries are returned once', () => {
    const items = [
      catalogItem(1),
      catalogItem(1),
      { id: 7 },
      { title: 'x' },
      catalogItem(2, { price: null }),
    ];
    const { listings, warnings } = parseCatalog({ items }, fr);
    expect(listings.map(({ id }) => id)).toEqual(['7000000001']);
    expect(warnings).toEqual([
      'vinted: 1 of 5 items could not be read: no title',
      'vinted: 1 of 5 items could not be read: no id',
      'vinted: 1 of 5 items could not be read: no price',
    ]);
  });
});

describe('pages of the catalogue', () => {
  const page = (count: number, pagination?: object) => {
    const items = Array.from({ length: count }, (_, n) => catalogItem(n));
    const { isLast, isEnd, time } = parseCatalog({ items, pagination }, fr);
    return { isLast, isEnd, time };
  };
  const of = (current_page: number, total_pages: number, total_entries: number) => ({
    current_page,
    total_pages,
    total_entries,
    time: 5,
  });

  it.each([
    ['the first of three', 96, of(1, 3, 200), { isLast: false, isEnd: false, time: 5 }],
    ['the last of three', 8, of(3, 3, 200), { isLast: true, isEnd: true, time: 5 }],
    [
      'the last that Vinted returns of a longer list',
      96,
      of(10, 10, 960),
      { isLast: true, isEnd: false, time: 5 },
    ],
    ['none at all', 0, of(1, 0, 0), { isLast: true, isEnd: true, time: 5 }],
    [
      'an empty one although listings should be there',
      0,
      of(2, 3, 200),
      { isLast: true, isEnd: false, time: 5 },
    ],
    ['a full one without pagination', 96, undefined, { isLast: false, isEnd: false, time: undefined }],
    ['a short one without pagination', 95, undefined, { isLast: true, isEnd: true, time: undefined }],
  ])('show whether the list ends with them: %s', (_, count, pagination, expected) => {
    expect(page(count, pagination)).toEqual(expected);
  });
});
