import { criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import {
  describeRecorded,
  recordedAnswer,
  type Outcome,
  type Recorded,
} from '../testing/recorded-answers.js';
import type { Fetched } from '../source.js';
import { POSTS_QUERY, createProducthuntConnector } from './index.js';
import { posts } from './testing/fixtures.js';

const atom: Outcome = {
  error: 'not_parsable',
  notPolled:
    'the public feed: it is incomplete and not in order of time, and its terms allow only reading it',
};

describeRecorded(
  'producthunt',
  {
    'posts-edges-1.json': {
      items: 20,
      first: 'producthunt:blankly-3',
      last: 'producthunt:datatrain',
      digest: '02ef42d5a75d',
    },
    'post-by-slug-1.json': {
      items: 20,
      first: 'producthunt:datatrain',
      last: 'producthunt:giftsy',
      digest: '881b193196b6',
      notPolled: 'lookups of single posts; they are read as if they were on a page',
    },
    'user-redacted-1.json': { error: 'unknown_shape', notPolled: 'a lookup of one account' },
    'graphql-schema-1.json': {
      error: 'unknown_shape',
      notPolled: 'the description of the interface; see below',
    },
    'feed-atom-1.xml': atom,
    'feed-atom-entry-1.xml': atom,
    'error-400-oauth-token-1.json': { error: 'unauthorized' },
    'error-401-1.json': { error: 'unauthorized' },
    'error-429-1.json': { error: 'rate_limited', retryAfterMs: 102_000 },
    'error-429-v1-1.json': { error: 'rate_limited', retryAfterMs: 156_000 },
  },
  read,
);

function read({ file, status, headers, bytes }: Recorded): Promise<Fetched> {
  const isSignIn = file.includes('oauth-token');
  const upstream = fakeUpstream('producthunt', (): FakeAnswer => {
    // The recording does not contain its status. According to the documentation, the status is 400.
    if (isSignIn) return { status: 400, body: bytes };
    return { status, headers, body: pageOf(file, bytes) };
  });
  const application = { token: '', clientId: 'id', clientSecret: 'secret' };
  const connector = createProducthuntConnector(
    isSignIn ? application : { token: 'token', clientId: '', clientSecret: '' },
  );
  return connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
}

interface Node {
  slug?: string;
}

// The recordings contain only the nodes of the posts, and the nodes have no ids. So the slug is used as the id.
function pageOf(file: string, bytes: Buffer): Uint8Array | object {
  if (file === 'posts-edges-1.json') {
    const edges = JSON.parse(bytes.toString()) as { node: Node }[];
    return posts(edges.map(({ node }) => ({ ...node, id: node.slug })));
  }
  if (file === 'post-by-slug-1.json') {
    const answers = JSON.parse(bytes.toString()) as Record<string, { data: { post: Node } }>;
    return posts(Object.entries(answers).map(([slug, { data }]) => ({ ...data.post, id: slug })));
  }
  return bytes;
}

it('every requested field is part of the API', () => {
  const recorded = recordedAnswer('producthunt', 'graphql-schema-1.json');
  if (!recorded) return;
  const { data } = JSON.parse(recorded.bytes.toString()) as { data: { __schema: { types: SchemaType[] } } };
  const typesByName = new Map(data.__schema.types.map((type) => [type.name, type]));
  const unknown: string[] = [];
  const stack = ['Query'];
  let field = '';
  for (const token of POSTS_QUERY.replace(/\([^)]*\)/g, '')
    .match(/\w+|[{}]/g)
    ?.slice(2) ?? []) {
    if (token === '{') stack.push(field);
    else if (token === '}') stack.pop();
    else {
      const found = typesByName.get(stack.at(-1) ?? '')?.fields?.find(({ name }) => name === token);
      if (!found) unknown.push(`${stack.at(-1)}.${token}`);
      field = found ? nameOf(found.type) : '';
    }
  }
  expect(unknown).toEqual([]);
});

interface SchemaType {
  name: string;
  fields?: { name: string; type: TypeReference }[] | null;
}

interface TypeReference {
  name: string | null;
  ofType?: TypeReference | null;
}

function nameOf({ name, ofType }: TypeReference): string {
  return name ?? (ofType ? nameOf(ofType) : '');
}
