import type { FakePost } from '../../testing/connector-contract.js';
import {
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../../testing/fake-upstream.js';
import type { FetchContext } from '../../source.js';
import { createVintedConnector } from '../index.js';

// Only for specs: catalogue entries in a recent format, and a site with pages like Vinted.

/** Returns a catalogue entry of listing n. */
export function catalogItem(n: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  const id = 7_000_000_000 + n;
  return {
    id,
    title: `Lamp number ${n}`,
    price: { amount: '20.0', currency_code: 'EUR' },
    is_visible: true,
    brand_title: 'Byron',
    path: `/items/${id}-lamp-number-${n}`,
    user: {
      id: 81,
      login: 'ada_b',
      profile_url: 'https://www.vinted.fr/member/81-ada_b',
      photo: null,
      business: false,
    },
    conversion: null,
    url: `https://www.vinted.fr/items/${id}-lamp-number-${n}`,
    promoted: false,
    photo: {
      id: 5,
      url: `https://images.lamps.example/${n}.webp?s=1`,
      is_main: true,
      high_resolution: { id: 'h', timestamp: 1_772_600_000, orientation: null },
    },
    favourite_count: 3,
    service_fee: { amount: '1.7', currency_code: 'EUR' },
    total_item_price: { amount: '21.7', currency_code: 'EUR' },
    view_count: 0,
    size_title: 'M',
    content_source: 'search',
    status: 'Très bon état',
    ...more,
  };
}

/** Returns the upstream's id of listing n. */
export function listingId(n: number): string {
  return String(7_000_000_000 + n);
}

/** Returns a page of a catalogue that consists of these entries. */
export function catalogPage(entries: readonly object[], request?: FakeRequest): Record<string, unknown> {
  const asked = request?.at.searchParams;
  const size = Number(asked?.get('per_page') ?? 96);
  const page = Number(asked?.get('page') ?? 1);
  const listed = entries.slice(0, 960);
  return {
    items: listed.slice((page - 1) * size, page * size),
    pagination: {
      current_page: page,
      total_pages: Math.ceil(listed.length / size),
      total_entries: listed.length,
      per_page: size,
      time: 1_772_625_600,
    },
    code: 0,
  };
}

/** Returns the response to a search among these listings. */
export function serveCatalog(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  return {
    body: catalogPage(
      posts.map(({ n }) => catalogItem(n)),
      request,
    ),
  };
}

/** Returns the response of the home page, which sets the cookies; undefined for every other request. */
export function serveVisit(request: FakeRequest): FakeAnswer | undefined {
  if (request.at.pathname !== '/') return undefined;
  return {
    body: '<!doctype html><html></html>',
    setCookies: [
      'access_token_web=token-1; Path=/; Expires=Wed, 04 Mar 2026 14:00:00 GMT; HttpOnly',
      'anon_id=a1; Path=/',
      'old=; Path=/; Max-Age=0',
    ],
  };
}

/** The connector. */
export const connector = createVintedConnector();

/** A search. */
export const lamps = criteriaOf({ market: 'fr', query: 'lamp' });

/** Returns one read and its requests. The home page always sets the cookies. */
export function reading(
  init: Parameters<typeof criteriaOf>[0],
  answer: (request: FakeRequest) => FakeAnswer,
  more: Partial<FetchContext> = {},
) {
  const upstream = fakeUpstream('vinted', (request) => serveVisit(request) ?? answer(request));
  const read = connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return { read, requests: upstream.requests };
}
