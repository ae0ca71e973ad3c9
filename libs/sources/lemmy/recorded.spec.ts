import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { createLemmyConnector, parseList } from './index.js';
import { serveSite } from './testing/fixtures.js';

const LATER = new Date('2026-09-01T00:00:00Z');
const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

describeRecorded(
  'lemmy',
  {
    'search-v3-1.json': {
      items: 2,
      ids: ['https://test1.lemmy.ddenis.info/comment/501', 'https://test1.lemmy.ddenis.info/post/180'],
    },
    'search-v4-1.json': {
      items: 2,
      ids: ['https://test1.lemmy.ddenis.info/comment/501', 'https://test1.lemmy.ddenis.info/post/180'],
    },
    'post-list-v3-1.json': {
      items: 3,
      ids: [
        'https://test1.lemmy.ddenis.info/post/180',
        'https://test1.lemmy.ddenis.info/post/179',
        'https://test2.lemmy.ddenis.info/post/102',
      ],
    },
    'post-list-v3-2.json': { items: 1, ids: ['https://lemmy.world/post/50908658'] },
    'post-list-v4-1.json': {
      items: 2,
      ids: ['https://test1.lemmy.ddenis.info/post/180', 'https://test1.lemmy.ddenis.info/post/179'],
    },
    'comment-list-v3-1.json': { items: 1, ids: ['https://test1.lemmy.ddenis.info/comment/501'] },
    'post-view-v3-018-1.json': notPolled('a lookup of one post; it is read below'),
    'http-404-1.json': { error: 'not_found' },
    'http-400-rate-limit-1.json': {
      error: 'rate_limited',
      reason: 'lemmy answered 400: too many requests, asked to wait',
    },
  },
  read,
);

// Reads a recorded list of posts or comments with the feed, and any other recorded response with a search.
async function read({ file, status, headers, bytes }: Recorded): Promise<Fetched> {
  const version = file.includes('v4') ? '1.0.0' : '0.19.20';
  const list = /^(post|comment)-list/.exec(file)?.[1];
  const empty = { posts: [], comments: [], items: [] };
  const upstream = fakeUpstream('lemmy', (request) => {
    const isOther = list !== undefined && !request.at.pathname.endsWith(`/${list}/list`);
    return serveSite(version, request) ?? (isOther ? { body: empty } : { status, headers, body: bytes });
  });
  const connector = createLemmyConnector({ instance: '', token: '' });
  const context = fakeContext(upstream.http, { now: LATER, pageCap: 1 });
  const fetched = list
    ? await connector.feed?.read(SPEC_NOW, context)
    : await connector.search(criteriaOf({ query: 'lamp' }), context);
  return fetched ?? { items: [], gap: false, warnings: [] };
}

it('the times of the recorded post of 0.18, which have no time zone, are read as UTC', () => {
  const answer = recordedAnswer('lemmy', 'post-view-v3-018-1.json');
  if (!answer) return;
  const body = { posts: [JSON.parse(answer.bytes.toString())] };
  const asked = { host: 'sh.itjust.works', site: { languages: new Map() }, now: LATER };
  const [item] = parseList(body, 'post', asked).items;
  expect([item?.publishedAt, item?.community]).toEqual([
    '2023-09-23T10:41:41.254Z',
    'muffed@sh.itjust.works',
  ]);
});
