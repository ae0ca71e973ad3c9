import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { createRedditConnector, parseListing, parseModerated } from './index.js';
import { serveSignIn } from './testing/fixtures.js';

const thread = 'a thread; its posts and top comments are read as listings';
const lookup = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

describeRecorded(
  'reddit',
  {
    'search-1.json': { items: 6, first: 't3_4at068', last: 't3_1qvzkd', digest: 'b37a3540c6f0' },
    'search-2.json': { items: 2, ids: ['t3_hybow9', 't3_hmwhd7'] },
    'new-1.json': { items: 100, first: 't3_5jo13y', last: 't3_5jo10c', digest: '7ad84cefb0fb' },
    'new-2.json': { items: 2, ids: ['t3_hyhquk', 't3_agi5zf'] },
    'hot-1.json': { items: 72, first: 't3_1sklidt', last: 't3_1sk0jaq', digest: 'd3145c206b9e' },
    'comments-1.json': { items: 100, first: 't1_dbhn11d', last: 't1_dbhn0yk', digest: '14fb70cae48e' },
    'comments-2.json': { items: 16, first: 't1_dgauydy', last: 't1_cg7r41r', digest: '77d73b43ffa5' },
    'comments-3.json': { items: 100, first: 't1_k3yrfii', last: 't1_k3uzsxu', digest: 'd0ec52ce0d20' },
    'comments-tree-1.json': {
      items: 6,
      first: 't3_3hahrw',
      last: 't1_cu5p1hh',
      digest: 'e4503bb9ec29',
      warnings: ['reddit: 1 of 6 items left out: a stub of more comments, without text'],
      notPolled: thread,
    },
    'comments-tree-2.json': { items: 2, ids: ['t3_1j7g9uj', 't1_mynfrrh'], notPolled: thread },
    'comments-tree-3.json': { items: 2, ids: ['t3_testpost', 't1_testc1'], notPolled: thread },
    'comments-gallery-1.json': { items: 1, ids: ['t3_huw6vs'], notPolled: thread },
    'comments-video-1.json': { items: 1, ids: ['t3_k5rsq3'], notPolled: thread },
    'comments-poll-1.json': { items: 1, ids: ['t3_ga3hiq'], notPolled: thread },
    'comments-crosspost-1.json': { items: 1, ids: ['t3_6vx8n0'], notPolled: thread },
    'morechildren-1.json': lookup('the comments behind a stub'),
    'info-deleted-comment-1.json': {
      items: 0,
      warnings: ['reddit: 1 of 1 items left out: deleted or removed'],
      notPolled: 'a lookup of one comment',
    },
    'info-removed-comment-1.json': { items: 1, ids: ['t1_dma3mi5'], notPolled: 'a lookup of one comment' },
    'user-overview-1.json': {
      items: 100,
      first: 't1_opq3e1a',
      last: 't1_c0bhyju',
      digest: '740b890cf5fb',
      notPolled: 'the posts and comments of one user',
    },
    'moderated_subreddits-1.json': lookup('a lookup with its own parser; it is read below'),
    'moderated_subreddits-2.json': lookup('a lookup with its own parser; it is read below'),
    'listing-empty-1.json': { items: 0 },
    'http-302-1.json': { error: 'not_found' },
    'http-401-1.json': { error: 'unauthorized' },
    'http-401-2.json': { error: 'unauthorized' },
    'http-403-1.json': { error: 'forbidden' },
    'http-403-2.json': { error: 'forbidden' },
    'http-404-1.json': { error: 'not_found' },
    'http-404-2.json': { error: 'not_found' },
    'http-429-1.json': { error: 'rate_limited' },
    'http-429-2.json': { error: 'rate_limited', retryAfterMs: 4_000 },
    'http-500-1.json': { error: 'server_error' },
    'http-503-1.json': { error: 'server_error' },
  },
  (recorded) => threadOf(recorded) ?? search(recorded),
);

it.each([
  ['moderated_subreddits-1.json', 20],
  ['moderated_subreddits-2.json', 0],
])('the recorded lookup %s returns %i subreddits', (file, count) => {
  const answer = recordedAnswer('reddit', file);
  if (!answer) return;
  const subreddits = parseModerated(JSON.parse(answer.bytes.toString()));
  expect(subreddits.length).toBe(count);
  expect(
    subreddits.every(({ name, title, subscribers }) => name !== '' && title !== '' && subscribers > 0),
  ).toBe(true);
});

function search({ status, headers, bytes }: Recorded): Promise<Fetched> {
  const upstream = fakeUpstream(
    'reddit',
    (request) => serveSignIn(request) ?? { status, headers, body: bytes },
  );
  const connector = createRedditConnector({ clientId: 'app', clientSecret: 's3cret' });
  return connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { match: 'platform' }));
}

function threadOf({ bytes, status }: Recorded): Promise<Fetched> | undefined {
  const body: unknown = status === 200 ? JSON.parse(bytes.toString()) : undefined;
  if (!Array.isArray(body)) return undefined;
  const parts = body.map(parseListing);
  return Promise.resolve({
    items: parts.flatMap((part) => part.items),
    warnings: parts.flatMap((part) => part.warnings),
    gap: false,
  });
}
