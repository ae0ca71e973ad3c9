import { expect, it } from 'vitest';
import { criteriaOf, fakeContext, fakeUpstream } from '../fake-upstream.js';
import { describeRecorded, recordedAnswer, type Recorded } from '../recorded-answers.js';
import type { Fetched } from '../source.js';
import { createRssConnector } from './index.js';

const BREAKS_OFF = ['rss: the feed breaks off before its end; the entries before that were read'];

describeRecorded(
  'rss',
  {
    'atom-1.xml': { items: 15 },
    'atom-google-alerts-1.xml': { items: 20 },
    // An HTML page around a feed, with a DOCTYPE: refused for either reason.
    'atom-duplicate-content-1.xml': { error: 'not_parsable' },
    'atom-incomplete-1.xml': { error: 'unknown_shape' },
    'atom-minimal-1.xml': { items: 1 },
    'atom-missing-1.xml': { items: 1 },
    'atom-reddit-1.xml': { items: 25 },
    'atom-relative-1.xml': { items: 1 },
    'atom-spaces-around-equals-1.xml': { items: 1 },
    'atom-xml-base-1.xml': { items: 1 },
    'atom-youtube-1.xml': { items: 15 },
    'encoding-eucjp-1.xml': { items: 1 },
    'encoding-euckr-1.xml': { items: 1 },
    'encoding-gb2312-1.xml': { items: 1 },
    'encoding-koi8r-1.xml': { items: 1 },
    'encoding-shiftjis-1.xml': { items: 1 },
    // An rss element with nothing in it, not even a channel.
    'encoding-utf16le-bom-1.xml': { error: 'unknown_shape' },
    'encoding-utf8-bom-1.xml': { error: 'unknown_shape' },
    'encoding-windows1255-hebrew-1.xml': { items: 1 },
    'encoding-wrong-prolog-utf8-1.xml': { items: 1 },
    'encoding-wrong-prolog-windows1252-1.xml': { items: 0 },
    'jsonfeed-1.json': { items: 20 },
    'jsonfeed-2.json': { items: 3 },
    'jsonfeed-invalid-items-1.json': { items: 8 },
    'jsonfeed-minimal-1.json': { items: 1 },
    'jsonfeed-unknown-version-1.json': { error: 'unknown_shape' },
    'not-a-feed-html-1.xml': { error: 'not_parsable' },
    'rdf-1.xml': { items: 69 },
    'rdf-2.xml': { items: 60 },
    'rdf-latin1-1.xml': { items: 1 },
    'rss092-nodates-1.xml': { items: 2 },
    'rss2-1.xml': { items: 55 },
    'rss2-bad-ampersands-1.xml': { items: 1, warnings: BREAKS_OFF },
    'rss2-bad-date-1.xml': { items: 2, warnings: BREAKS_OFF },
    'rss2-content-encoded-1.xml': { items: 7 },
    'rss2-empty-document-1.xml': { error: 'not_parsable' },
    'rss2-guid-only-1.xml': { items: 1 },
    'rss2-guid-permalink-1.xml': { items: 4 },
    'rss2-high-bit-date-1.xml': { items: 0 },
    'rss2-incomplete-cdata-1.xml': { error: 'truncated' },
    'rss2-invalid-1.xml': { error: 'truncated' },
    'rss2-japanese-1.xml': { items: 1 },
    'rss2-latin1-declared-1.xml': { items: 40 },
    'rss2-latin1-no-prolog-1.xml': { items: 10 },
    'rss2-latin1-undeclared-1.xml': { items: 15 },
    'rss2-no-guid-1.xml': { items: 30 },
    'rss2-relative-1.xml': { items: 2 },
    'rss2-relative-2.xml': { items: 1 },
    'rss2-undeclared-namespace-1.xml': { items: 0 },
    'rss2-urdu-cdata-1.xml': { items: 26 },
    'rss2-windows1251-1.xml': { items: 50 },
  },
  read,
);

it.each([
  ['encoding-eucjp-1.xml', /\p{Script=Katakana}{3}/u],
  ['encoding-shiftjis-1.xml', /\p{Script=Hiragana}{2}/u],
  ['encoding-euckr-1.xml', /\p{Script=Hangul}{2}/u],
  ['encoding-gb2312-1.xml', /\p{Script=Han}{3}/u],
  ['encoding-koi8r-1.xml', /^\p{Lu}\p{Ll}+[\p{Script=Cyrillic} ]{5}/u],
  ['encoding-windows1255-hebrew-1.xml', /\p{Script=Hebrew}{3}/u],
  ['rss2-windows1251-1.xml', /^\p{Lu}[\p{Script=Cyrillic}]{3}/u],
  ['rss2-latin1-declared-1.xml', /[ãéó]/],
  ['rss2-latin1-undeclared-1.xml', /[ãçé]/],
  ['rss2-latin1-no-prolog-1.xml', /[éèà]/],
  ['rss2-urdu-cdata-1.xml', /\p{Script=Arabic}{3}/u],
])('the words of the recorded feed %s are readable', async (file, words) => {
  const recorded = recordedAnswer('rss', file);
  if (!recorded) return;
  const { items } = await read(recorded);
  const text = items.map(({ title, text }) => `${title} ${text}`).join(' ');
  expect(text).toMatch(words);
  expect(text).not.toContain('\ufffd');
});

it.each([
  [
    'atom-google-alerts-1.xml',
    ({ items }: Fetched) => items.every(({ url }) => !url.includes('google.com/url')),
  ],
  ['rdf-2.xml', ({ items }: Fetched) => items.every(({ publishedAt }) => publishedAt === undefined)],
  [
    'rss2-1.xml',
    ({ items }: Fetched) => items.every((item) => item.publishedAt !== undefined && item.author !== ''),
  ],
  ['rss2-no-guid-1.xml', ({ items }: Fetched) => new Set(items.map(({ itemId }) => itemId)).size === 30],
  ['atom-reddit-1.xml', ({ items }: Fetched) => items.every(({ text }) => !/<\/?[a-z]+/i.test(text))],
])('the recorded feed %s is read as it was meant', async (file, holds) => {
  const recorded = recordedAnswer('rss', file);
  if (recorded) expect(holds(await read(recorded))).toBe(true);
});

function read({ bytes }: Recorded): Promise<Fetched> {
  const upstream = fakeUpstream('rss', () => ({ body: bytes }));
  const criteria = criteriaOf({ filters: { feed_urls: ['https://feeds.example/feed'] } });
  return createRssConnector().search(criteria, fakeContext(upstream.http));
}
