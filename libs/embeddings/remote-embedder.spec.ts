import type { OutboundHttp, OutboundRequest } from '#http-out';
import { OutboundError } from '#http-out';
import { EmbeddingsUnavailable } from './embedder.js';
import { fromBfloat16 } from './bfloat16.js';
import { RemoteEmbedder } from './remote-embedder.js';

type Respond = (input: string[], request: OutboundRequest) => { status: number; body: unknown };

/** Creates an embedder whose server answers with `respond`. */
function embedderOf(respond: Respond, token = 'secret') {
  const requests: OutboundRequest[] = [];
  const http = {
    async request(request: OutboundRequest) {
      requests.push(request);
      const { input } = JSON.parse(String(request.body)) as { input: string[] };
      const { status, body } = respond(input, request);
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      return { status, bytes, headers: {}, url: request.url };
    },
    close: async () => {},
  } as OutboundHttp;
  return {
    embedder: new RemoteEmbedder({ url: 'http://127.0.0.1:9/v1/', model: 'm', token, http }),
    requests,
  };
}

/** Answers with a vector of three numbers for each text, the last text first. A vector depends on the text's length. */
const answer: Respond = (input) => ({
  status: 200,
  body: { data: input.map((text, index) => ({ index, embedding: [text.length, 1, 0] })).reverse() },
});

it('the embedder sends the texts in batches to the operator’s address, and returns unit vectors in order', async () => {
  const { embedder, requests } = embedderOf(answer);
  const texts = Array.from({ length: 100 }, (_, n) => 'x'.repeat(n));
  const found = await embedder.embed(texts);
  expect(found.map(({ length }) => length)).toEqual(texts.map((text) => (text === '' ? 0 : 6)));
  const [a = 0, b = 0] = fromBfloat16(found[50]!);
  expect([a / b, Math.hypot(a, b)]).toEqual([expect.closeTo(50, 0), expect.closeTo(1, 1)]);
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('http://127.0.0.1:9/v1/embeddings'));
  expect(requests[0]).toMatchObject({ trusted: true, headers: { authorization: 'Bearer secret' } });
});

it('the embedder cuts long texts, and sends no authorization without a token', async () => {
  const { embedder, requests } = embedderOf(answer, '');
  await embedder.embed(['y'.repeat(100_000)]);
  expect(String(requests[0]?.body).length).toBeLessThan(9_000);
  expect(requests[0]?.headers).not.toHaveProperty('authorization');
});

it('the embedder returns an empty vector only for the text that the server refuses', async () => {
  const { embedder } = embedderOf((input, request) =>
    input.includes('bad') ? { status: 400, body: 'no' } : answer(input, request),
  );
  const found = await embedder.embed(['good', 'bad', 'fine']);
  expect(found.map(({ length }) => length > 0)).toEqual([true, false, true]);
});

it.each<[string, Respond]>([
  ['the status 429', () => ({ status: 429, body: {} })],
  ['the status 500', () => ({ status: 500, body: 'oh' })],
  ['the status 401', () => ({ status: 401, body: {} })],
  ['a response that is not JSON', () => ({ status: 200, body: '<html>' })],
  ['too few vectors', () => ({ status: 200, body: { data: [] } })],
  [
    'vectors of different lengths',
    () => ({
      status: 200,
      body: {
        data: [
          { index: 0, embedding: [1] },
          { index: 1, embedding: [1, 2] },
        ],
      },
    }),
  ],
  [
    'texts instead of numbers',
    (input) => ({ status: 200, body: { data: input.map((_, index) => ({ index, embedding: ['a'] })) } }),
  ],
  [
    'a refused connection',
    () => {
      throw new OutboundError('network', '127.0.0.1 refused the connection');
    },
  ],
])('the embedder reports that the server is unavailable after %s', async (_, respond) => {
  await expect(embedderOf(respond).embedder.embed(['a', 'b'])).rejects.toThrow(EmbeddingsUnavailable);
});
