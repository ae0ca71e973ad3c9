import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf } from '../testing/fake-upstream.js';
import { createVintedConnector } from './index.js';
import {
  catalogItem,
  catalogPage,
  connector,
  lamps,
  listingId,
  reading,
  serveCatalog,
  serveVisit,
} from './testing/fixtures.js';

describeConnector('vinted', {
  create: createVintedConnector,
  criteria: lamps,
  serve: serveCatalog,
  signIn: serveVisit,
  undated: true,
  itemIdOf: (n) => `vinted:fr:${listingId(n)}`,
  changedShapes: [
    {},
    [],
    { items: {} },
    { catalog: { items: [] } },
    { items: [{ id: 1, name: 'Lamp' }] },
    { items: [catalogItem(1, { price: { value: 3 } })] },
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0]) {
  const { read, requests } = reading({ market: 'fr', ...init }, () => ({ body: catalogPage([]) }));
  await read;
  return requests.slice(1).map(({ at }) => `${at.host}${at.pathname} ${[...at.searchParams].join(' ')}`);
}

describe('the request to Vinted', () => {
  it('is one search for each term at the site of the market, newest first', async () => {
    expect(await asked({ market: 'uk', query: 'desk', terms: ['lamp', 'Light'] })).toEqual([
      'www.vinted.co.uk/api/v2/catalog/items search_text,desk lamp order,newest_first page,1 per_page,96',
      'www.vinted.co.uk/api/v2/catalog/items search_text,desk Light order,newest_first page,1 per_page,96',
    ]);
  });

  it('contains the limits of the price, in the currency of the market, and the ids of the filters', async () => {
    const filters = {
      brand_ids: [53, 14],
      size_ids: '3, 4',
      catalog_ids: [5],
      color_ids: '1',
      status_ids: [6],
    };
    expect(await asked({ market: 'pl', priceMin: 5, priceMax: 19.9, filters, sort: 'newest_first' })).toEqual(
      [
        'www.vinted.pl/api/v2/catalog/items brand_ids,53,14 size_ids,3,4 catalog_ids,5 color_ids,1 status_ids,6' +
          ' price_from,5 price_to,19.9 currency,PLN order,newest_first page,1 per_page,96',
      ],
    );
  });

  it('asks for three pages at a first poll, the last two with the time that the first page states', async () => {
    const entries = Array.from({ length: 500 }, (_, n) => catalogItem(n));
    const { read, requests } = reading(lamps, (request) => ({ body: catalogPage(entries, request) }));
    expect((await read).items.length).toBe(288);
    expect(
      requests.slice(1).map(({ at }) => [at.searchParams.get('page'), at.searchParams.get('time')]),
    ).toEqual([
      ['1', null],
      ['2', '1772625600'],
      ['3', '1772625600'],
    ]);
  });

  it('asks for fewer pages for each term if there are many terms', () => {
    const requests = (count: number) =>
      connector.requestsPerSearch(
        criteriaOf({ terms: Array.from({ length: count }, (_, n) => `lamp ${n}`) }),
      );
    expect([1, 10, 12, 30].map(requests)).toEqual([3, 30, 24, 30]);
  });
});

describe('criteria of a search on Vinted', () => {
  const faults = (init: Parameters<typeof criteriaOf>[0]) =>
    connector.checkCriteria(criteriaOf({ market: 'fr', query: 'lamp', ...init }));

  it.each([
    [{}],
    [{ sort: 'newest_first' }],
    [{ query: undefined, terms: ['a', 'b'] }],
    [{ query: undefined, filters: { brand_ids: [53] } }],
    [{ query: undefined, filters: { catalog_ids: '5,6' } }],
    [{ filters: { brand_ids: [], size_ids: '', subreddit: 7, own: { key: null } } }],
    [{ priceMin: 1, priceMax: 1 }],
  ])('can be %j', (init) => {
    expect(faults(init)).toEqual([]);
  });

  const markets =
    'at, be, cz, de, dk, ee, es, fi, fr, gr, hr, hu, ie, it, lt, lu, lv, nl, pl, pt, ro, se, si, sk, uk, us';
  it.each([
    [
      { market: 'jp' },
      {
        path: 'market',
        message: `vinted has no market "jp"; its markets are ${markets}`,
        code: 'MARKET_DISABLED',
      },
    ],
    [
      { market: undefined },
      { path: 'market', message: `a search on vinted needs a market: one of ${markets}` },
    ],
    [
      { sort: 'price_low_to_high' },
      { path: 'sort', message: 'vinted sorts by newest_first, not by "price_low_to_high"' },
    ],
    [
      { query: ' ' },
      {
        path: 'query',
        message:
          'a search on vinted needs a query, terms or one of filters.brand_ids, filters.size_ids, filters.catalog_ids, filters.color_ids, filters.status_ids',
      },
    ],
    [
      { priceMin: 9, priceMax: 3 },
      { path: 'priceMax', message: 'must not be below priceMin' },
    ],
    [
      { terms: Array.from({ length: 31 }, (_, n) => `t${n}`) },
      {
        path: 'terms',
        message: 'vinted needs a request for each term, so the maximum number of terms is 30',
      },
    ],
  ])('are refused: %j', (init, fault) => {
    expect(faults(init)).toEqual([fault]);
  });

  const message = 'must be a list of numeric ids, or a text of ids with commas between them';
  it.each(['brand_ids', 'size_ids', 'catalog_ids', 'color_ids', 'status_ids'])(
    'are refused if filters.%s is not a list of numbers or a text of ids [errors.vinted-filters]',
    (key) => {
      for (const value of [
        7,
        true,
        null,
        { id: 7 },
        ['7'],
        [7, null],
        [7.5],
        [-7],
        [0],
        'Nike',
        '7;8',
        '7,x',
        '0',
      ])
        expect(faults({ filters: { [key]: value } })).toEqual([{ path: `filters.${key}`, message }]);
    },
  );
});

describe('listings of Vinted', () => {
  const itemOf = async (more: Record<string, unknown> = {}) => {
    const { items } = await reading(lamps, () => ({ body: catalogPage([catalogItem(1, more)]) })).read;
    return { item: items[0], body: JSON.parse(items[0]?.bodyJson ?? '{}') as Record<string, unknown> };
  };

  it('are converted to items', async () => {
    const { item, body } = await itemOf();
    expect(item).toMatchObject({
      itemId: 'vinted:fr:7000000001',
      eventType: 'listing.created',
      kind: 'listing',
      url: 'https://www.vinted.fr/items/7000000001-lamp-number-1',
      title: 'Lamp number 1',
      text: 'Byron · M · Très bon état',
      author: 'ada_b',
      authorUrl: 'https://www.vinted.fr/member/81',
      happenedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 3 },
      media: [{ url: 'https://images.lamps.example/1.webp?s=1', type: 'image' }],
    });
    expect([item?.publishedAt, item?.previousPrice]).toEqual([undefined, undefined]);
    expect(body).toEqual({
      id: '7000000001',
      source: 'vinted',
      url: 'https://www.vinted.fr/items/7000000001-lamp-number-1',
      author: 'ada_b',
      publishedAt: null,
      market: 'fr',
      title: 'Lamp number 1',
      price: 20,
      currency: 'EUR',
      previousPrice: null,
      previousCurrency: null,
      convertedPrice: null,
      convertedCurrency: null,
      brand: 'Byron',
      size: 'M',
      condition: 'Très bon état',
      favourites: 3,
      photos: ['https://images.lamps.example/1.webp?s=1'],
      photoUploadedAt: '2026-03-04T04:53:20.000Z',
      isPromoted: false,
      seller: { id: '81', login: 'ada_b', isBusiness: false },
      firstSeenAt: '2026-03-04T12:00:00.000Z',
    });
  });

  it('contain null for missing values', async () => {
    const bare = {
      brand_title: '',
      size_title: '',
      status: null,
      favourite_count: null,
      photo: null,
      user: null,
    };
    const { item, body } = await itemOf(bare);
    expect([item?.text, item?.author, item?.authorUrl, item?.engagement]).toEqual([
      '',
      undefined,
      undefined,
      undefined,
    ]);
    expect(body).toMatchObject({
      author: null,
      brand: null,
      size: null,
      condition: null,
      favourites: null,
      photos: [],
      photoUploadedAt: null,
      seller: null,
    });
  });

  it("contain the seller's price and the price that the market shows, if the price is converted", async () => {
    const conversion = { seller_price: '20.0', seller_currency: 'PLN', buyer_currency: 'EUR' };
    const { body } = await itemOf({ price: { amount: '4.71', currency_code: 'EUR' }, conversion });
    expect(body).toMatchObject({
      price: 20,
      currency: 'PLN',
      convertedPrice: 4.71,
      convertedCurrency: 'EUR',
    });
  });

  it('have addresses of listing and seller on the site of the market, even if the response has invalid ones', async () => {
    const { item } = await itemOf({ url: 'https://[lamp', path: null, user: { id: 'a/b', login: 'ada' } });
    expect([item?.url, item?.authorUrl]).toEqual([
      'https://www.vinted.fr/items/7000000001',
      'https://www.vinted.fr/member/a%2Fb',
    ]);
  });

  it('contain the description that the seller wrote, if there is one', async () => {
    expect((await itemOf({ description: 'Works.\nMostly.' })).item?.text).toBe(
      'Byron · M · Très bon état\nWorks.\nMostly.',
    );
  });
});

describe('the observations of listings on Vinted', () => {
  it('contain the brands and catalogues that the search asks for', async () => {
    const filters = { brand_ids: [53], catalog_ids: '5,6' };
    const { read } = reading({ market: 'fr', filters }, () => ({ body: catalogPage([catalogItem(1)]) }));
    expect((await read).observations).toEqual([
      {
        kind: {
          case: 'listing',
          value: {
            listingId: '7000000001',
            market: 'fr',
            observedAt: SPEC_NOW.toISOString(),
            event: 'seen',
            price: '20.00',
            currency: 'EUR',
            previousPrice: '',
            title: 'Lamp number 1',
            url: 'https://www.vinted.fr/items/7000000001-lamp-number-1',
            brand: 'Byron',
            brandIds: ['53'],
            catalogIds: ['5', '6'],
            firstSeenAt: SPEC_NOW.toISOString(),
          },
        },
      },
    ]);
  });
});
