import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { createMastodonConnector, parseTimeline } from './index.js';

const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

// Addresses of statuses contain handles, which are not repeated here.
const withoutHandle = (uri: string) => uri.replace(/^(https:\/\/[^/]+\/).*(\/[^/]+)$/, '$1…$2');

describeRecorded(
  'mastodon',
  {
    'timelines-tag-1.json': {
      items: 40,
      first: 'https://mstdn.science/…/114856169522394793',
      last: 'https://bsky.brid.gy/…/3lqu2pje46s2h',
      digest: 'eb22e4dfaa9d',
    },
    'timelines-tag-2.json': {
      items: 40,
      first: 'https://digitalcourage.social/…/114626725755121763',
      last: 'https://fedifreu.de/…/114347271626363508',
      digest: 'e681acc3de28',
    },
    'timelines-tag-3.json': {
      items: 5,
      first: 'https://rstats.me/…/114870142137562212',
      last: 'https://bsky.brid.gy/…/3lu66quubp22m',
      digest: '353b4eff86f2',
    },
    'timelines-public-1.json': {
      items: 20,
      first: 'https://sunny.garden/…/114870362529738550',
      last: 'https://flipboard.com/…/9W-hmlVxQkiqPJ7DaiceYA:a:2034191127',
      digest: '41375992517c',
    },
    'timelines-empty-1.json': { items: 0 },
    'search-v2-1.json': {
      items: 2,
      first: 'https://icosahedron.website/…/116388148912635764',
      last: 'https://social.sublingual.xyz/…/116388107097123650',
      digest: 'b4aa425ca458',
    },
    'search-v2-2.json': { items: 0 },
    'search-v2-empty-1.json': { items: 0 },
    'accounts-statuses-1.json': {
      items: 20,
      first: 'https://fosstodon.org/…/114739545367952761',
      last: 'https://fosstodon.org/…/113191408914362368',
      digest: 'b58dc13e1737',
      notPolled: 'the posts of one account',
    },
    'status-context-1.json': notPolled('a thread'),
    'status-1.json': notPolled('a lookup of one status'),
    'status-poll-1.json': notPolled('a lookup of one status; it is read below'),
    'status-edits-1.json': {
      error: 'unknown_shape',
      notPolled: 'the versions of one status',
    },
    'http-401-1.json': { error: 'unauthorized' },
    'http-404-1.json': { error: 'not_found' },
    'http-422-1.json': { error: 'unexpected_status' },
    'http-429-1.json': { error: 'rate_limited' },
  },
  read,
  withoutHandle,
);

// Reads a search, or a search and timelines, with a token.
function read({ file, status, headers, bytes, requestUrl }: Recorded): Promise<Fetched> {
  const isSearch = file.startsWith('search') || file.startsWith('http');
  const upstream = fakeUpstream('mastodon', ({ at }) =>
    at.pathname === '/api/v2/search' && !isSearch
      ? { body: { accounts: [], statuses: [], hashtags: [] } }
      : { status, headers, body: bytes },
  );
  const instance = requestUrl?.includes('fosstodon') ? 'fosstodon.org' : '';
  const connector = createMastodonConnector({ instance, token: 'token' });
  const match = isSearch ? 'platform' : 'word';
  return connector.search(criteriaOf({ query: 'desk lamp' }), fakeContext(upstream.http, { match }));
}

it('the recorded poll is read with its options', () => {
  const answer = recordedAnswer('mastodon', 'status-poll-1.json');
  if (!answer) return;
  const [item] = parseTimeline([JSON.parse(answer.bytes.toString())], {
    host: 'lamps.example',
    now: SPEC_NOW,
  }).items;
  expect(item?.text).toBe('nice\n\n* four twenty\n* sixty-nine');
});

it.each(['timelines-tag-1.json', 'timelines-tag-2.json', 'timelines-public-1.json'])(
  'no address in %s is cut, and every author has a server',
  (file) => {
    const answer = recordedAnswer('mastodon', file);
    if (!answer) return;
    const { items } = parseTimeline(JSON.parse(answer.bytes.toString()), {
      host: 'mastodon.social',
      now: SPEC_NOW,
    });
    for (const { text, author, url } of items) {
      expect(text).not.toMatch(/https?:\/\/\s|https?:\/\/\S*…/);
      expect(author).toMatch(/^[^@]+@[^@]+$/);
      expect(url).toMatch(/^https:\/\//);
    }
  },
);
