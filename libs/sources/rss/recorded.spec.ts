import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { describeRecorded, recordedAnswer, type Recorded } from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { createRssConnector } from './index.js';

const BREAKS_OFF = ['rss: the end of the feed is missing; the entries before it were read'];

describeRecorded(
  'rss',
  {
    'atom-1.xml': {
      items: 15,
      first: 'rss:dc5071bd-054a-531d-8533-9e4c80d53984',
      last: 'rss:44db474e-a02f-5877-859c-014f9844c871',
      digest: 'f4e271f648ae',
    },
    'atom-google-alerts-1.xml': {
      items: 20,
      first: 'rss:027bac8e-7f35-56a0-9023-1dde71dae893',
      last: 'rss:59523b9b-8280-58b1-95e8-849f5bdd8e27',
      digest: '516e9f87f206',
    },
    // A feed inside an HTML page with a DOCTYPE. Earshot refuses HTML pages, and files with a DOCTYPE.
    'atom-duplicate-content-1.xml': { error: 'not_parsable' },
    'atom-incomplete-1.xml': { error: 'unknown_shape' },
    'atom-minimal-1.xml': { items: 1, ids: ['rss:f138d8e5-012b-5ddb-871e-600a00378aff'] },
    'atom-missing-1.xml': { items: 1, ids: ['rss:73b7a4a0-24b3-549f-a45c-419800515e46'] },
    'atom-reddit-1.xml': {
      items: 25,
      first: 'rss:63536486-08ee-53da-b5b4-fd9f70be446b',
      last: 'rss:c2d75345-d08e-55cf-b9c3-1747ef8dbadc',
      digest: 'caccef950969',
    },
    'atom-relative-1.xml': { items: 1, ids: ['rss:f138d8e5-012b-5ddb-871e-600a00378aff'] },
    'atom-spaces-around-equals-1.xml': { items: 1, ids: ['rss:7d41a94f-583f-53f9-94d5-d468d386141a'] },
    'atom-xml-base-1.xml': { items: 1, ids: ['rss:68ca6b4e-d4b5-55fc-8d1b-098f0e9b71f6'] },
    'atom-youtube-1.xml': {
      items: 15,
      first: 'rss:459ef97b-2797-54f6-aae2-1a297da89cfe',
      last: 'rss:f6d184aa-79d0-52d2-bbc8-38f6c52e5703',
      digest: 'd73377d05222',
    },
    'encoding-eucjp-1.xml': { items: 1, ids: ['rss:d054f8ca-19fb-552f-9e5b-b0e39c13e7fb'] },
    'encoding-euckr-1.xml': { items: 1, ids: ['rss:321da7d0-4162-5e7f-a3e7-18f3743be8a6'] },
    'encoding-gb2312-1.xml': { items: 1, ids: ['rss:918dd9a1-e44e-597a-9f80-cad701a7043a'] },
    'encoding-koi8r-1.xml': { items: 1, ids: ['rss:b951eac6-95d0-5bc0-98c8-8a44f93757a4'] },
    'encoding-shiftjis-1.xml': { items: 1, ids: ['rss:00ece497-ff55-5b36-bd37-b31a6046d2d3'] },
    // An empty rss element, without a channel.
    'encoding-utf16le-bom-1.xml': { error: 'unknown_shape' },
    'encoding-utf8-bom-1.xml': { error: 'unknown_shape' },
    'encoding-windows1255-hebrew-1.xml': { items: 1, ids: ['rss:79e95c3e-cc31-585e-b2d9-e2ef29ff7cac'] },
    'encoding-wrong-prolog-utf8-1.xml': { items: 1, ids: ['rss:99c17899-f1ce-5199-bed9-06d7f1c254d8'] },
    'encoding-wrong-prolog-windows1252-1.xml': { items: 0 },
    'jsonfeed-1.json': {
      items: 20,
      first: 'rss:8e0b2c7b-7bda-5b83-adf7-ad6c6b2ed6cd',
      last: 'rss:615e560a-b798-5b44-9ac9-9c0e51472c77',
      digest: 'e97a7ef65a49',
    },
    'jsonfeed-2.json': {
      items: 3,
      ids: [
        'rss:21ba7c9c-4d36-522f-8e0b-fefac235b139',
        'rss:44de0bee-13ff-5912-8645-fcf7bad50df6',
        'rss:562e45bf-0082-5d24-a14e-9e8fbaef1e9b',
      ],
    },
    'jsonfeed-invalid-items-1.json': {
      items: 8,
      first: 'rss:e13878fd-d33f-5cb7-a46e-5ab1b2e9cd8e',
      last: 'rss:b88e6e56-a4f0-58b8-916c-10942197ac8d',
      digest: 'f5f48b81ee32',
    },
    'jsonfeed-minimal-1.json': { items: 1, ids: ['rss:0855fef7-01af-50f7-93ed-a0f915044c1b'] },
    'jsonfeed-unknown-version-1.json': { error: 'unknown_shape' },
    'not-a-feed-html-1.xml': { error: 'not_parsable' },
    'rdf-1.xml': {
      items: 69,
      first: 'rss:62439654-9593-5fa2-a2f8-b648b2cf1a2b',
      last: 'rss:c508db0d-4daa-53a1-b4d7-22bb8c0c55bf',
      digest: '1df5b3d623cb',
    },
    'rdf-2.xml': {
      items: 60,
      first: 'rss:ddacd657-402b-5134-aa4c-41e853710c4e',
      last: 'rss:2d8286b7-67c9-5483-90c7-99da1ffc9878',
      digest: '87d5a065e77f',
    },
    'rdf-latin1-1.xml': { items: 1, ids: ['rss:0a20315a-d9b3-55bd-9bc5-52f83941997e'] },
    'rss092-nodates-1.xml': {
      items: 2,
      ids: ['rss:44522fad-eb0f-5ab5-867e-e43860b5a767', 'rss:ce5f3e42-1be6-5a7f-a5c1-7a04539d4224'],
    },
    'rss2-1.xml': {
      items: 55,
      first: 'rss:a07ec6e7-22c7-56c7-b568-c08c9468b882',
      last: 'rss:ad0d0a4f-2cb9-5a04-a97b-91aea70e4c0d',
      digest: '33b78effc5ee',
    },
    'rss2-bad-ampersands-1.xml': {
      items: 1,
      ids: ['rss:4b715730-eb93-5bc5-888f-bf5824475dde'],
      warnings: BREAKS_OFF,
    },
    'rss2-bad-date-1.xml': {
      items: 2,
      ids: ['rss:9b613ace-cb71-56a1-9813-05f1c8bee1fa', 'rss:a448fde6-ecf1-5c38-b149-957d55c3848e'],
      warnings: BREAKS_OFF,
    },
    'rss2-content-encoded-1.xml': {
      items: 7,
      first: 'rss:4ff247e8-f06e-59e2-9575-8e0a0c9595df',
      last: 'rss:325a75aa-58f9-5f8d-9521-b6466001143e',
      digest: '15bfe7bf2b9c',
    },
    'rss2-empty-document-1.xml': { error: 'not_parsable' },
    'rss2-guid-only-1.xml': { items: 1, ids: ['rss:2c34e4aa-6b03-519d-86e3-7c7a83a6c1ff'] },
    'rss2-guid-permalink-1.xml': {
      items: 4,
      first: 'rss:cebe0804-49de-51d4-8a35-448e46ae9b76',
      last: 'rss:b9ba300f-01e8-5bf0-b360-cce814a153ee',
      digest: '00edfb1669f0',
    },
    'rss2-high-bit-date-1.xml': { items: 0 },
    'rss2-incomplete-cdata-1.xml': { error: 'truncated' },
    'rss2-invalid-1.xml': { error: 'truncated' },
    'rss2-japanese-1.xml': { items: 1, ids: ['rss:521aacfc-6f83-5270-be46-37ca764b1eb7'] },
    'rss2-latin1-declared-1.xml': {
      items: 40,
      first: 'rss:12ae3b48-a8ad-5d63-af52-baa013e4d381',
      last: 'rss:474c57e9-c0c0-5b7d-99ae-774352a161d0',
      digest: 'cf6ea63bce87',
    },
    'rss2-latin1-no-prolog-1.xml': {
      items: 10,
      first: 'rss:2a733a3d-3777-53f0-b034-1390c4903c1d',
      last: 'rss:cb88ed20-c597-5f79-8220-46baf758f438',
      digest: 'fcd1cc05bd09',
    },
    'rss2-latin1-undeclared-1.xml': {
      items: 15,
      first: 'rss:41bb13fb-1199-51a1-8d2e-12d415e7e5b8',
      last: 'rss:6c8c936d-7092-58a0-b0f5-d1a0831711e4',
      digest: '897864838d73',
    },
    'rss2-no-guid-1.xml': {
      items: 30,
      first: 'rss:63d7daab-9f21-5fa5-bf34-0931dc07b22f',
      last: 'rss:10f2780d-211b-55fe-ba20-0a8b53f87774',
      digest: '6ca5ed094a84',
    },
    'rss2-relative-1.xml': {
      items: 2,
      ids: ['rss:1839d00c-aa2b-5fd0-aebc-c41db5ebac66', 'rss:29892756-63f5-597a-8a4e-c3593f89e7aa'],
    },
    'rss2-relative-2.xml': { items: 1, ids: ['rss:2c34e4aa-6b03-519d-86e3-7c7a83a6c1ff'] },
    'rss2-undeclared-namespace-1.xml': { items: 0 },
    'rss2-urdu-cdata-1.xml': {
      items: 26,
      first: 'rss:a6a3f66d-252a-5d6f-8816-4dd83e304e8e',
      last: 'rss:144ca1ef-c0f6-5a95-83e6-a695afeb87ee',
      digest: '5ed86e0d1d47',
    },
    'rss2-windows1251-1.xml': {
      items: 50,
      first: 'rss:aba98fb5-1778-5f38-bb6a-1d59a32294f2',
      last: 'rss:5dd87a2b-866c-5280-a144-0fda2ad1076e',
      digest: '6da5a4a17c22',
    },
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
    'addresses that are no redirects of Google',
    ({ items }: Fetched) => items.every(({ url }) => !url.includes('google.com/url')),
  ],
  [
    'rdf-2.xml',
    'no publication time',
    ({ items }: Fetched) => items.every(({ publishedAt }) => publishedAt === undefined),
  ],
  [
    'rss2-1.xml',
    'a publication time, and no empty author',
    ({ items }: Fetched) => items.every((item) => item.publishedAt !== undefined && item.author !== ''),
  ],
  [
    'rss2-no-guid-1.xml',
    'thirty different ids',
    ({ items }: Fetched) => new Set(items.map(({ itemId }) => itemId)).size === 30,
  ],
  [
    'atom-reddit-1.xml',
    'texts without HTML tags',
    ({ items }: Fetched) => items.every(({ text }) => !/<\/?[a-z]+/i.test(text)),
  ],
])('the items of the recorded feed %s have %s', async (file, _, holds) => {
  const recorded = recordedAnswer('rss', file);
  if (recorded) expect(holds(await read(recorded))).toBe(true);
});

function read({ bytes }: Recorded): Promise<Fetched> {
  const upstream = fakeUpstream('rss', () => ({ body: bytes }));
  const criteria = criteriaOf({ filters: { feed_urls: ['https://feeds.example/feed'] } });
  return createRssConnector().search(criteria, fakeContext(upstream.http));
}
