import { derivedId } from '#kernel';
import { describeConnector } from '../testing/connector-contract.js';
import { criteriaOf } from '../testing/fake-upstream.js';
import { createRssConnector } from './index.js';
import { FEED_URL, rss, rssItems } from './testing/fixtures.js';

const connector = createRssConnector();

describeConnector('rss', {
  create: createRssConnector,
  criteria: criteriaOf({ query: 'lamp', filters: { feed_urls: [FEED_URL] } }),
  serve: (posts) => ({ body: rss(rssItems(posts)) }),
  itemIdOf: (n) => `rss:${derivedId('rss', FEED_URL, `lamp-${n}`)}`,
  changedShapes: [
    '<opml version="2.0"><body/></opml>',
    '<rss version="2.0"></rss>',
    rss('<item></item><item><comments>c</comments></item>'),
    '{"version": "https://jsonfeed.org/version/1234", "items": []}',
    { posts: [] },
  ],
});

describe('the feeds of a search', () => {
  it.each([
    [{}, 'a search on rss needs 1 to 20 addresses of feeds'],
    [{ feed_urls: [] }, 'a search on rss needs 1 to 20 addresses of feeds'],
    [{ feed_urls: 7 }, 'a search on rss needs 1 to 20 addresses of feeds'],
    [{ feed_urls: [7] }, 'must be a list of http or https addresses'],
    [{ feed_urls: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) }, 'at most 20 feeds'],
    [{ feed_urls: ['lamps'] }, '"lamps" is not an address'],
    [{ feed_urls: ['ftp://a.example/'] }, '"ftp://a.example/" is not an http or https address'],
    [
      { feed_urls: ['https://u:p@a.example/'] },
      '"https://u:p@a.example/" must not contain a user name or a password',
    ],
  ])('are refused if they are %j: %s [keywords.rss]', (filters, message) => {
    expect(connector.checkCriteria(criteriaOf({ filters }))).toEqual([
      { path: 'filters.feed_urls', message },
    ]);
  });

  it.each([
    [['https://a.example/1', 'http://b.example'], 2],
    ['https://a.example/1,2, http://b.example', 2],
    ['https://a.example/1', 1],
    [['https://a.example/1', 'https://A.example/1'], 1],
  ])('can be %j, and need %d requests: one for each different feed', (feed_urls, count) => {
    const criteria = criteriaOf({ filters: { feed_urls } });
    expect(connector.checkCriteria(criteria)).toEqual([]);
    expect(connector.requestsPerSearch(criteria)).toBe(count);
  });
});
