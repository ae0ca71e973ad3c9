import {
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../../testing/fake-upstream.js';
import type { FetchContext, Fetched } from '../../source.js';
import { createVintedConnector } from '../index.js';
import { catalogItem, catalogPage, listingId, serveVisit } from './fixtures.js';

// Only for specs: one search on an invented site. The search is read in the same way as in polling.

const connector = createVintedConnector();
const criteria = criteriaOf({ market: 'fr', query: 'lamp' });
/** Returns the time this many minutes after the first read. */
export const at = (minutes: number) => new Date(Date.parse('2026-03-04T12:00:00Z') + minutes * 60_000);

/** Returns a site whose list can change, and one search that can be read several times. */
export function search(...first: number[]) {
  const site = {
    entries: first.map((n) => catalogItem(n)),
    /** The response of a listing's own page. */
    page: { status: 200 } as FakeAnswer,
    /** Responses for some listings instead of `page`, by id. */
    pages: {} as Record<string, FakeAnswer>,
    state: {} as Record<string, unknown>,
  };
  const asked = (id = '') => site.pages[id] ?? site.page;
  const upstream = fakeUpstream('vinted', (request: FakeRequest) => {
    const visit = serveVisit(request);
    if (visit) return visit;
    if (request.at.pathname.startsWith('/items/')) return asked(request.at.pathname.split('/')[2]);
    return { body: catalogPage(site.entries, request) };
  });
  const session = new Map<string, unknown>();
  /**
   * Reads like in polling: the state of the search is converted to JSON and back, and is stored if the read succeeds.
   */
  const read = async (
    minutes: number,
    since?: number,
    more: Partial<FetchContext> = {},
  ): Promise<Fetched> => {
    const state = structuredClone(site.state);
    const context = fakeContext(upstream.http, {
      now: at(minutes),
      since: since === undefined ? undefined : at(since - 5),
      state,
      session,
      pageCap: 10,
      ...more,
    });
    const fetched = await connector.search(criteria, context);
    site.state = JSON.parse(JSON.stringify(state)) as Record<string, unknown>;
    return fetched;
  };
  const paths = () => upstream.requests.splice(0).map(({ at: url }) => url.pathname);
  return { site, read, paths, heldOff: upstream.heldOff };
}

/** Returns the items of a read in short form. */
export const news = ({ items }: Fetched) => items.map(({ eventType, itemId }) => `${eventType} ${itemId}`);
/** Returns Earshot's id of listing n. */
export const vinted = (n: number) => `vinted:fr:${listingId(n)}`;

/** Returns the observations of a read. */
export const observed = ({ observations = [] }: Fetched) =>
  observations.flatMap(({ kind }) => (kind?.case === 'listing' ? [kind.value] : []));
