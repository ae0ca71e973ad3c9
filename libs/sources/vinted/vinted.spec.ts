import { describe, expect, it } from 'vitest';
import { describeConnector } from '../connector-contract.js';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createVintedConnector } from './index.js';
import { catalogItem, catalogPage, listingId, serveCatalog, serveVisit } from './invented.js';

const connector = createVintedConnector();
const lamps = criteriaOf({ market: 'fr', query: 'lamp' });

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

function reading(
  init: Parameters<typeof criteriaOf>[0],
  answer: (request: FakeRequest) => FakeAnswer,
  more: Partial<FetchContext> = {},
) {
  const upstream = fakeUpstream('vinted', (request) => serveVisit(request) ?? answer(request));
  const read = connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return { read, requests: upstream.requests };
}

async function asked(init: Parameters<typeof criteriaOf>[0]) {
  const { read, requests } = reading({ market: 'fr', ...init }, () => ({ body: catalogPage([]) }));
  await read;
  return requests.slice(1).map(({ at }) => `${at.host}${at.pathname} ${[...at.searchParams].join(' ')}`);
}

describe('what Vinted is asked', () => {
  it('is one search for each term at the site of the market, newest first', async () => {
    expect(await asked({ market: 'uk', query: 'desk', terms: ['lamp', 'Light'] })).toEqual([
      'www.vinted.co.uk/api/v2/catalog/items search_text,desk lamp order,newest_first page,1 per_page,96',
      'www.vinted.co.uk/api/v2/catalog/items search_text,desk Light order,newest_first page,1 per_page,96',
    ]);
  });

  it('holds the bounds of the price, in the currency of the market, and the ids of the filters', async () => {
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

  it('is three pages at first, kept in step by the time of the first', async () => {
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

  it('is fewer pages for each of many terms', () => {
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
  ])('may be %j', (init) => {
    expect(faults(init)).toEqual([]);
  });

  const markets =
    'at, be, cz, de, dk, ee, es, fi, fr, gr, hr, hu, ie, it, lt, lu, lv, nl, pl, pt, ro, se, si, sk, uk, us';
  it.each([
    [{ market: 'jp' }, { path: 'market', message: `vinted has no market "jp"; its markets are ${markets}` }],
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
      { path: 'terms', message: 'vinted is asked for each term: at most 30' },
    ],
  ])('are refused: %j', (init, fault) => {
    expect(faults(init)).toEqual([fault]);
  });

  const message = 'must be a list of numeric ids, or a text of ids with commas between them';
  it.each(['brand_ids', 'size_ids', 'catalog_ids', 'color_ids', 'status_ids'])(
    'are refused where filters.%s is neither a list of numbers nor a text of ids',
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

describe('a visit to Vinted', () => {
  const denied = { status: 401, body: { code: 100, message_code: 'invalid_authentication_token' } };
  const page = { body: catalogPage([catalogItem(1)]) };

  it('begins at the first page of the market, once for all searches, and takes the cookies along', async () => {
    const session = new Map<string, unknown>();
    const first = reading(lamps, () => page, { session });
    const second = reading(lamps, () => page, { session });
    const other = reading({ ...lamps, market: 'de' }, () => page, { session });
    await Promise.all([first.read, second.read, other.read]);
    expect(first.requests.map(({ url }) => url.split('?')[0])).toEqual([
      'https://www.vinted.fr/',
      'https://www.vinted.fr/api/v2/catalog/items',
    ]);
    expect(first.requests[1]?.headers).toMatchObject({
      cookie: 'access_token_web=token-1; anon_id=a1',
      accept: 'application/json',
    });
    // Ours is honest: the door names Earshot where a request names nothing.
    expect(first.requests[0]?.headers).not.toHaveProperty('user-agent');
    expect(second.requests.map(({ at }) => at.pathname)).toEqual(['/api/v2/catalog/items']);
    expect(other.requests[0]?.url).toBe('https://www.vinted.de/');
  });

  it.each([
    ['401', denied],
    ['200 with the code 100', { body: { code: 100, message: 'Jeton invalide' } }],
  ])('that has ended (%s) is begun anew, once', async (_, ended) => {
    let answers = 0;
    const { read, requests } = reading(lamps, () => (++answers === 1 ? ended : page));
    expect((await read).items.length).toBe(1);
    expect(requests.map(({ at }) => at.pathname)).toEqual([
      '/',
      '/api/v2/catalog/items',
      '/',
      '/api/v2/catalog/items',
    ]);
  });

  it('that ends at once is told', async () => {
    const { read, requests } = reading(lamps, () => denied);
    await expect(read).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'vinted answered 401: it wants a sign-in, in a new visit too; vinted may not want visitors from this address',
    });
    expect(requests.length).toBe(4);
  });

  it('that gives no cookie is told, and tried again the next time', async () => {
    const session = new Map<string, unknown>();
    const upstream = fakeUpstream('vinted', () => ({ body: '<html></html>', setCookies: ['anon_id=a1'] }));
    await expect(connector.search(lamps, fakeContext(upstream.http, { session }))).rejects.toMatchObject({
      kind: 'forbidden',
      message:
        'vinted let us in without the cookie access_token_web; it may not want visitors from this address',
    });
    expect(session.size).toBe(0);
  });

  it.each([
    [21, 'unauthorized'],
    [102, 'forbidden'],
    [104, 'not_found'],
    [106, 'forbidden'],
    [7, 'unexpected_status'],
  ])('may be answered 200 and yet refused: the code %i is the fault %s', async (code, kind) => {
    const { read } = reading(lamps, () => ({ body: { code, message: 'Nein' } }));
    await expect(read).rejects.toMatchObject({ kind, statusCode: 200 });
    await expect(read).rejects.toThrow(`vinted answered 200 with the code ${code}: `);
  });

  it('is refused for a market that there is no more', async () => {
    await expect(reading({ market: 'xx', query: 'lamp' }, () => page).read).rejects.toThrow(
      'vinted has no market "xx"',
    );
  });
});

describe('listings of Vinted', () => {
  const itemOf = async (more: Record<string, unknown> = {}) => {
    const { items } = await reading(lamps, () => ({ body: catalogPage([catalogItem(1, more)]) })).read;
    return { item: items[0], body: JSON.parse(items[0]?.bodyJson ?? '{}') as Record<string, unknown> };
  };

  it('are mapped', async () => {
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

  it('say what they lack with null', async () => {
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

  it("that are converted carry the seller's price, and what the market shows beside it", async () => {
    const conversion = { seller_price: '20.0', seller_currency: 'PLN', buyer_currency: 'EUR' };
    const { body } = await itemOf({ price: { amount: '4.71', currency_code: 'EUR' }, conversion });
    expect(body).toMatchObject({
      price: 20,
      currency: 'PLN',
      convertedPrice: 4.71,
      convertedCurrency: 'EUR',
    });
  });

  it('carry the words of the seller where they are given', async () => {
    expect((await itemOf({ description: 'Works.\nMostly.' })).item?.text).toBe(
      'Byron · M · Très bon état\nWorks.\nMostly.',
    );
  });
});

describe('what is seen of listings', () => {
  it('is noted with the brands and catalogues that the search asks for', async () => {
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
