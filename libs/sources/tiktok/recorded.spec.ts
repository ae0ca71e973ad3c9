import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import { createTiktokConnector } from './index.js';
import { serveSignIn } from './testing/fixtures.js';

const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

describeRecorded(
  'tiktok',
  {
    'research-video-query-1.json': {
      items: 27,
      first: '7320768111068728607',
      last: '7320768004067691818',
      digest: '1f51e4c0a078',
    },
    'research-video-query-2.json': {
      items: 27,
      first: '7320768111068728607',
      last: '7320768004067691818',
      digest: '660afa0fcec2',
    },
    'research-video-query-3.json': { items: 1, ids: ['7435406205763226897'] },
    'research-video-query-4.json': { items: 1, ids: ['702874395068494965'] },
    'research-video-comments-1.json': notPolled('the comments of one video'),
    'research-user-info-1.json': notPolled('a lookup of one account'),
    'oembed-1.json': notPolled('a lookup of one address, without a date'),
    'error-400-cursor-1.json': { error: 'unexpected_status' },
  },
  search,
);

function search({ status, headers, bytes }: Recorded) {
  const upstream = fakeUpstream(
    'tiktok',
    (request) => serveSignIn(request) ?? { status, headers, body: bytes },
  );
  const connector = createTiktokConnector({ clientId: 'key', clientSecret: 's3cret' });
  return connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
}

it('ids from a recording have exactly the recorded digits', async () => {
  const recorded = recordedAnswer('tiktok', 'research-video-query-1.json');
  if (!recorded) return;
  const sent = [...recorded.bytes.toString().matchAll(/"id":(\d+)/g)].map(([, id]) => id);
  const { items } = await search(recorded);
  expect(items.map(({ itemId }) => itemId).sort()).toEqual(sent.sort());
});

it('a recorded name that is padded with U+0000 is read without the padding', async () => {
  const recorded = recordedAnswer('tiktok', 'research-video-query-3.json');
  if (!recorded) return;
  const { items } = await search(recorded);
  expect(items.map(({ author }) => /^[^\0]+$/.test(author ?? ''))).toEqual([true]);
});
