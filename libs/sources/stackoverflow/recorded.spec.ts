import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { createStackoverflowConnector } from './index.js';
import { serveFilter, wrapped } from './testing/fixtures.js';

const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });

describeRecorded(
  'stackoverflow',
  {
    'questions-1.json': {
      items: 30,
      first: 'stackoverflow:question:19599773',
      last: 'stackoverflow:question:1774838',
      digest: '3663fc0c3a59',
      gap: true,
    },
    'questions-2.json': {
      items: 10,
      first: 'stackoverflow:question:11227809',
      last: 'stackoverflow:question:111102',
      digest: '495fc0a30a8f',
      gap: true,
    },
    'questions-3.json': {
      items: 30,
      first: 'stackoverflow:question:40332798',
      last: 'stackoverflow:question:6492683',
      digest: 'e2b34233eeb2',
      gap: true,
    },
    'questions-4.json': {
      items: 100,
      first: 'stackoverflow:question:64134108',
      last: 'stackoverflow:question:1787127',
      digest: 'e3ae7beb57fd',
      gap: true,
    },
    'questions-empty-1.json': { items: 0 },
    'questions-related-1.json': {
      items: 10,
      first: 'stackoverflow:question:17479135',
      last: 'stackoverflow:question:2497757',
      digest: 'f91e292514b8',
      notPolled: 'the questions similar to one question',
    },
    'search-advanced-1.json': {
      items: 50,
      first: 'stackoverflow:question:54430470',
      last: 'stackoverflow:question:767545',
      digest: 'bebe5c4a5f2d',
    },
    'answers-1.json': {
      items: 13,
      first: 'stackoverflow:answer:19551539',
      last: 'stackoverflow:answer:19448600',
      digest: '40f4a5de9e76',
    },
    'comments-1.json': notPolled(
      'comments: they do not contain their question, and one request returns a hundred of the whole site',
    ),
    'http-400-1.json': { error: 'unexpected_status' },
    'http-400-access-denied-1.json': { error: 'forbidden' },
    'http-400-bad-parameter-1.json': { error: 'unexpected_status' },
    'http-400-throttle-1.json': { error: 'rate_limited', retryAfterMs: 67_194_000 },
    'http-400-throttle-2.json': { error: 'rate_limited' },
  },
  async (recorded) => {
    const { fetched } = await read(recorded);
    return fetched ?? { items: [], gap: false, warnings: [] };
  },
);

// Reads one page as the newest questions or answers; the other kind has no entries. Some pages announce
// further pages, which are not read.
async function read({ file, status, headers, bytes }: Recorded) {
  const isAnswers = file.startsWith('answers');
  const upstream = fakeUpstream('stackoverflow', (request): FakeAnswer => {
    const isOther = request.at.pathname.endsWith('/answers') !== isAnswers;
    if (status === 200)
      return serveFilter(request) ?? (isOther ? wrapped([]) : { headers, body: unwrapped(bytes) });
    return { status, headers, body: bytes };
  });
  const connector = createStackoverflowConnector({ key: '' });
  const context = fakeContext(upstream.http, { since: SPEC_NOW, pageCap: 1 });
  const reading: Promise<Fetched> | undefined =
    status === 200
      ? connector.feed?.read(SPEC_NOW, context)
      : connector.search(criteriaOf({ query: 'lamp' }), context);
  return { fetched: await reading, heldOff: upstream.heldOff };
}

// The library that made one of the recordings has wrapped it in an object.
function unwrapped(bytes: Buffer): object {
  const body = JSON.parse(bytes.toString()) as { stackapi_results?: object };
  return body.stackapi_results ?? body;
}

it('the recorded request to wait is passed to the lane', async () => {
  const recorded = recordedAnswer('stackoverflow', 'comments-1.json');
  if (!recorded) return;
  const body = { ...(JSON.parse(recorded.bytes.toString()) as object), items: [] };
  const { heldOff } = await read({ ...recorded, bytes: Buffer.from(JSON.stringify(body)) });
  expect(heldOff).toEqual([{ waitMs: 10_000, reason: 'stackoverflow asked to wait 10 s' }]);
});
