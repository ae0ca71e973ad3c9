import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import { createYoutubeConnector, parseSearchAnswer, parseVideos } from './index.js';
import { serveNoDetails } from './testing/fixtures.js';

const connector = createYoutubeConnector({ key: 's3cret-key' });
const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });
const beside = notPolled('requested in addition to a search; it is read below');
const lookedUp = notPolled('a lookup; it is read as a lookup below');
const replies = notPolled('replies to one comment');
const web = notPolled('the web page’s own interface, which YouTube does not offer');

describeRecorded(
  'youtube',
  {
    'search-list-1.json': { items: 25, first: 'ddYARvl4PgE', last: 'nkhpGC10OVw', digest: 'e8e078ea1d35' },
    'search-list-2.json': { items: 25, first: 'fjxHTtZOAgQ', last: 'XxJKnDLYZz4', digest: '007b6e34938d' },
    'search-list-3.json': { items: 5, first: 'LrQWzOkC0XQ', last: 'lVQ1EKR1v1I', digest: 'a39cac45e980' },
    'search-list-4.json': { items: 50, first: 'yc844Z_Hsnk', last: 'rPJBLKBFXQs', digest: '306972b9e868' },
    'search-list-5.json': { items: 25, first: 'yK7NYVPWHdM', last: 'qGH2yvVGgmk', digest: 'afe6541f570e' },
    'videos-list-1.json': beside,
    'videos-list-2.json': beside,
    'commentthreads-list-1.json': lookedUp,
    'commentthreads-list-2.json': lookedUp,
    'commentthreads-list-3.json': lookedUp,
    'comments-list-1.json': replies,
    'comments-list-2.json': replies,
    'channels-list-1.json': notPolled('a lookup of channels'),
    'innertube-search-1.json': web,
    'innertube-search-2.json': web,
    'innertube-search-continuation-1.json': web,
    'innertube-comments-1.json': web,
    'innertube-comment-replies-1.json': web,
    'error-400-key-1.json': { error: 'unauthorized' },
    'error-403-permission-1.json': { error: 'forbidden' },
    'error-403-commentsdisabled-1.json': {
      error: 'forbidden',
      notPolled: 'a response to a lookup; it is read below',
    },
    'error-403-quota-1.json': { error: 'quota_spent', retryAfterMs: 20 * 3_600_000 },
  },
  (recorded) => connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstreamOf(recorded).http)),
);

function upstreamOf({ status, headers, bytes }: Recorded) {
  return fakeUpstream('youtube', (request) => serveNoDetails(request) ?? { status, headers, body: bytes });
}

describe('other recorded answers of youtube', () => {
  it.each([
    ['videos-list-1.json', 5],
    ['videos-list-2.json', 2],
  ])('the answer %s contains %i videos, without counts', (file, count) => {
    const recorded = recordedAnswer('youtube', file);
    if (!recorded) return;
    const details = parseVideos(JSON.parse(recorded.bytes.toString()));
    expect(details.size).toBe(count);
    const results = [...details.keys()].map((videoId) => ({ id: { videoId }, snippet: {} }));
    const { items, warnings } = parseSearchAnswer({ items: results }, details);
    expect(warnings).toEqual([]);
    expect(items.filter(({ engagement }) => engagement)).toEqual([]);
    expect(items.every(({ publishedAt, author, text }) => publishedAt && author && text.length > 100)).toBe(
      true,
    );
  });

  it.each([
    ['commentthreads-list-1.json', 5, true],
    ['commentthreads-list-2.json', 5, false],
    ['commentthreads-list-3.json', 4, false],
  ])('the answer %s contains %i comments', async (file, count, more) => {
    const answer = await lookUp(file);
    if (answer?.kind !== 'found') return expect(answer).toBeUndefined();
    const comments = answer.body['comments'] as { text: string; publishedAt: string }[];
    expect([comments.length, answer.found, 'nextCursor' in answer.body]).toEqual([count, count, more]);
    expect(comments.filter(({ text }) => /<a |<br/.test(text))).toEqual([]);
    expect(comments.every(({ publishedAt }) => /^2019-.*Z$/.test(publishedAt))).toBe(true);
  });

  it('error-403-commentsdisabled-1.json is a refusal with a message about the comments', async () => {
    const answer = await lookUp('error-403-commentsdisabled-1.json');
    if (answer)
      expect(answer).toMatchObject({ kind: 'refused', message: 'Comments are turned off for this video' });
  });

  async function lookUp(file: string) {
    const recorded = recordedAnswer('youtube', file);
    if (!recorded) return undefined;
    const context = { http: upstreamOf(recorded).http, now: SPEC_NOW, session: new Map() };
    return connector.lookups?.['videoComments']?.({ videoId: 'abc' }, context);
  }
});
