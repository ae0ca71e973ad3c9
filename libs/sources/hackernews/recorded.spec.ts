import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { describeRecorded, type Outcome } from '../testing/recorded-answers.js';
import { createHackernewsConnector } from './index.js';

const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });
const firebase = notPolled('Firebase looks up single items and has no search');

describeRecorded(
  'hackernews',
  {
    'search_by_date-1.json': { items: 20, first: 'hn:7850069', last: 'hn:7850043', digest: '3a3fc200eab1' },
    'search_by_date-2.json': { items: 20, first: 'hn:7850047', last: 'hn:7849752', digest: '6e1eeae28ede' },
    'search_by_date-3.json': { items: 20, first: 'hn:7849958', last: 'hn:7847357', digest: '5b5c50aa7d4f' },
    'search_by_date-4.json': { items: 20, first: 'hn:7796973', last: 'hn:7775076', digest: 'dd0dcb64a0a1' },
    'search_by_date-5.json': { items: 20, first: 'hn:7846867', last: 'hn:7685442', digest: '35184988f09d' },
    'search_by_date-past-cap-1.json': {
      items: 0,
      gap: true,
      warnings: ['hackernews gives at most 1,000 items for one query; older ones are missing'],
    },
    'search-1.json': { items: 20, first: 'hn:7373927', last: 'hn:1250850', digest: '3e116e513c81' },
    'search-2.json': { items: 20, first: 'hn:7454553', last: 'hn:2245692', digest: '2a8f45c5cbbe' },
    'search-recent-1.json': { items: 1, ids: ['hn:13133437'] },
    'search-recent-2.json': { items: 1, ids: ['hn:44582430'] },
    'search-recent-3.json': { items: 1, ids: ['hn:18717168'] },
    'items-1.json': notPolled('a lookup of one item'),
    'users-1.json': notPolled('a lookup of one user'),
    'firebase-item-comment-1.json': firebase,
    'firebase-item-dead-1.json': firebase,
    'firebase-item-deleted-1.json': firebase,
    'firebase-item-job-1.json': firebase,
    'firebase-item-missing-1.json': firebase,
    'firebase-item-poll-1.json': firebase,
    'firebase-item-pollopt-1.json': firebase,
    'firebase-item-story-1.json': firebase,
    'firebase-item-story-2.json': firebase,
    'firebase-maxitem-1.json': firebase,
    'firebase-newstories-1.json': firebase,
    'firebase-updates-1.json': firebase,
    'firebase-user-1.json': firebase,
  },
  ({ bytes, status, headers }) => {
    const upstream = fakeUpstream('hackernews', () => ({ status, headers, body: bytes }));
    return createHackernewsConnector().search(criteriaOf({ query: 'apple' }), fakeContext(upstream.http));
  },
);
