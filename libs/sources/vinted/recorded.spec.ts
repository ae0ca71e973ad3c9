import { fakeContext, fakeUpstream, criteriaOf } from '../testing/fake-upstream.js';
import { describeRecorded, type Recorded } from '../testing/recorded-answers.js';
import { recordOf } from '../shared/shape.js';
import { createVintedConnector } from './index.js';
import { serveVisit } from './testing/fixtures.js';

const single = 'one entry of a page; it is read as a whole page';
const details = 'the details of one listing, from a part of the interface that is now closed';

describeRecorded(
  'vinted',
  {
    'catalog-items-1.json': {
      items: 96,
      first: 'vinted:pl:7292729681',
      last: 'vinted:pl:7294985223',
      digest: '6ede68c9ff75',
    },
    'catalog-items-anonymised-1.json': { items: 1, ids: ['vinted:pl:item id'] },
    'catalog-item-nl-1.json': { items: 1, ids: ['vinted:pl:6245197443'], notPolled: single },
    'catalog-item-uk-promoted-1.json': { items: 1, ids: ['vinted:pl:9552573524'], notPolled: single },
    'catalog-embedded-2021-1.json': {
      items: 3,
      ids: ['vinted:pl:1122074341', 'vinted:pl:1123689042', 'vinted:pl:1101845357'],
      notPolled: 'taken from a page of 2021 with entries by id',
    },
    'item-details-anonymised-1.json': { items: 1, ids: ['vinted:pl:6854891835'], notPolled: details },
    'item-page-embedded-1.json': { items: 1, ids: ['vinted:pl:6554254787'], notPolled: details },
    'error-401-1.json': { error: 'unauthorized' },
  },
  (recorded) => {
    const answer = { status: recorded.status, headers: recorded.headers, body: pageOf(recorded) };
    const upstream = fakeUpstream('vinted', (request) => serveVisit(request) ?? answer);
    return createVintedConnector().search(
      criteriaOf({ market: 'pl', query: 'nike' }),
      // According to the recorded page there are ten pages.
      fakeContext(upstream.http, { pageCap: 1 }),
    );
  },
);

/** A page of the catalogue. Another kind of response is converted to a page with its entries. */
function pageOf({ file, bytes }: Recorded): Uint8Array | object {
  if (/^(catalog-items|error)/.test(file)) return bytes;
  const body = recordOf(JSON.parse(bytes.toString('utf8'))) ?? {};
  if (file.startsWith('catalog-embedded')) return { items: Object.values(recordOf(body['items']) ?? {}) };
  return { items: [recordOf(body['item']) ?? body] };
}
