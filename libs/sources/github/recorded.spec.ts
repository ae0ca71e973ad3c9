import { criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { createGithubConnector, parseDiscussions } from './index.js';

const notPolled = (reason: string): Outcome => ({ error: 'unknown_shape', notPolled: reason });
const byRepository = 'discussions of one repository, with few of their fields';

describeRecorded(
  'github',
  {
    'search-issues-1.json': {
      items: 30,
      first: 'I_kwDOAAlq-s7QXRpc',
      last: 'I_kwDOAAlq-s6LvRYs',
      digest: 'd9b28c7b7917',
    },
    'search-issues-2.json': {
      items: 30,
      first: 'pull_request:27697165',
      last: 'issue:2042576',
      digest: '404c70b42f16',
    },
    'search-issues-3.json': {
      items: 6,
      first: 'pull_request:29138794',
      last: 'issue:11388256',
      digest: 'c0726c6c8270',
    },
    'search-issues-4.json': {
      items: 30,
      first: 'PR_kwDOAAlq-s7ApqDL',
      last: 'PR_kwDOAAlq-s6nEJSs',
      digest: 'f9649b31fe0e',
    },
    'search-repositories-1.json': {
      items: 30,
      first: 'repository:14057030',
      last: 'repository:8338',
      digest: 'b8588a653c45',
    },
    'search-repositories-2.json': {
      items: 30,
      first: 'repository:15288509',
      last: 'repository:3081286',
      digest: 'da12f0781100',
    },
    'search-repositories-empty-1.json': { items: 0 },
    'search-code-1.json': notPolled('code has neither author nor date'),
    'search-code-2.json': notPolled('code has neither author nor date'),
    'graphql-discussions-1.json': notPolled(byRepository),
    'graphql-discussions-2.json': notPolled(byRepository),
    'graphql-discussions-3.json': notPolled(byRepository),
    'graphql-discussion-1.json': notPolled('a lookup of one discussion; it is read below'),
    'graphql-discussion-comments-1.json': notPolled('the comments of one discussion'),
    'rate_limit-1.json': notPolled('the headers of every response contain the same data'),
    'http-401-1.json': { error: 'unauthorized' },
    'http-403-1.json': { error: 'rate_limited' },
    'http-403-2.json': { error: 'rate_limited', retryAfterMs: 60_000 },
    'http-403-3.json': { error: 'forbidden' },
    'http-403-secondary-1.json': { error: 'rate_limited', retryAfterMs: 60_000 },
    'http-403-secondary-mock-1.json': { error: 'rate_limited', retryAfterMs: 60_000 },
    'http-404-1.json': { error: 'not_found' },
    'http-422-1.json': { error: 'unexpected_status' },
    'http-422-search-1.json': { error: 'unexpected_status' },
    'http-429-secondary-mock-1.json': { error: 'rate_limited', retryAfterMs: 8_000 },
    'http-502-1.json': { error: 'server_error' },
    'http-503-1.json': { error: 'server_error' },
  },
  read,
);

function read({ file, status, headers, bytes }: Recorded): Promise<Fetched> {
  const kinds = [/repositories/.test(file) ? 'repository' : /graphql/.test(file) ? 'discussion' : 'issue'];
  const upstream = fakeUpstream('github', () => ({ status, headers, body: bytes }));
  const connector = createGithubConnector({ token: 'token' });
  return connector.search(criteriaOf({ query: 'lamp', filters: { kinds } }), fakeContext(upstream.http));
}

describe('recorded responses of GitHub', () => {
  it('a discussion is read with the fields that the recording contains', () => {
    const recorded = recordedAnswer('github', 'graphql-discussion-1.json');
    if (!recorded) return;
    const { data } = JSON.parse(recorded.bytes.toString()) as { data: { node: object } };
    const repository = { nameWithOwner: 'PyGithub/PyGithub' };
    const { items } = parseDiscussions({ data: { search: { nodes: [{ ...data.node, repository }] } } });
    expect(items).toMatchObject([
      {
        itemId: 'D_kwDOADYVqs4ATJZD',
        kind: 'discussion',
        publishedAt: '2023-03-29T17:06:04.000Z',
        community: 'PyGithub/PyGithub',
        text: 'Is there an api way to search for a string in the current code in a repo?',
      },
    ]);
  });

  it.each([
    ['search-issues-1.json', 'issue', false],
    ['search-issues-4.json', 'pull_request', true],
  ])('all items of %s have the kind %s', async (file, kind, bots) => {
    const recorded = recordedAnswer('github', file);
    if (!recorded) return;
    const { items } = await read(recorded);
    expect(new Set(items.map((item) => item.kind))).toEqual(new Set([kind]));
    expect(items.every((item) => !item.text.includes('\r') && item.community === 'hub4j/github-api')).toBe(
      true,
    );
    expect(items.some((item) => item.bodyJson.includes('"bot":true'))).toBe(bots);
  });
});
