import { ASKED, askEngine, keyedBy, PROMPT, type EngineRequest } from '../../testing/ai-answers-client.js';
import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

const CITED = 'https://kettles.example/best#top';
const TEXT = 'Größe 🫖 zählt. The Zephyr Kettle, see https://tests.example/kettles.';

/** Publishes the answer of the engine. It cites `CITED`, and the pages whose addresses are in the text. */
function publishAnswer(engine: string, text = TEXT): void {
  client.simulator.world.publish('ai_answers', {
    text,
    title: 'On kettles',
    community: engine,
    link: CITED,
  });
}

const ask = (engine: string, more: Partial<EngineRequest> = {}) => askEngine(client, engine, more);

describe('openai', () => {
  interface Response {
    model: string;
    output: {
      type: string;
      action?: { query: string; sources?: { url: string }[] };
      content?: { text: string; annotations: Record<string, unknown>[] }[];
    }[];
  }

  it('answers with a search, and with citations whose offsets count characters', async () => {
    publishAnswer('openai');
    const answer = await ask('openai');
    const { model, output } = answer.json<Response>();
    expect(model).toBe('gpt-5.2-2025-12-11');
    expect(output.map(({ type }) => type)).toEqual(['web_search_call', 'message']);
    expect(output[0]?.action).toEqual({
      type: 'search',
      queries: ['which kettle is the best'],
      query: 'which kettle is the best',
    });
    const [content] = output[1]!.content!;
    expect(content?.text).toBe(TEXT);
    const from = [...TEXT].join('').indexOf('https') - 1;
    expect(content?.annotations).toEqual([
      {
        type: 'url_citation',
        start_index: 0,
        end_index: [...TEXT].length,
        title: 'On kettles',
        url: 'https://kettles.example/best?utm_source=openai#top',
      },
      {
        type: 'url_citation',
        start_index: from,
        end_index: from + 'https://tests.example/kettles'.length,
        title: 'tests.example',
        url: 'https://tests.example/kettles?utm_source=openai',
      },
    ]);
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit-requests': '5000',
      'x-ratelimit-remaining-requests': '4999',
      'x-ratelimit-reset-requests': '1m0s',
    });
  });

  it('returns its sources if the request asks for them, and cites nothing without the search tool', async () => {
    publishAnswer('openai');
    const body = { ...ASKED.openai!.body, include: ['web_search_call.action.sources'] };
    const { output } = (await ask('openai', { body })).json<Response>();
    expect(output[0]?.action?.sources?.map(({ url }) => url)).toEqual([
      CITED,
      'https://tests.example/kettles',
      'https://roundups.example/best-of-the-year',
    ]);
    const input = [{ role: 'user', content: [{ type: 'input_text', text: PROMPT }] }];
    const plain = (await ask('openai', { body: { model: 'gpt-5.2', input } })).json<Response>();
    expect(plain.output.map(({ type, content }) => [type, content?.[0]?.annotations])).toEqual([
      ['message', []],
    ]);
  });
});

describe('anthropic', () => {
  interface Message {
    model: string;
    stop_reason: string;
    content: { type: string; text?: string; citations?: { url: string }[]; content?: { url: string }[] }[];
  }
  const textOf = ({ content }: Message) => content.map(({ text = '' }) => text).join('');

  it('puts the first sentence, and the text with citations, into separate blocks', async () => {
    publishAnswer('anthropic');
    const answer = await ask('anthropic');
    const message = answer.json<Message>();
    expect([message.model, message.stop_reason]).toEqual(['claude-haiku-4-5-20251001', 'end_turn']);
    expect(message.content.map(({ type }) => type)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'text',
      'text',
    ]);
    expect(message.content[1]?.content?.map(({ url }) => url)).toEqual([
      CITED,
      'https://tests.example/kettles',
      'https://roundups.example/best-of-the-year',
    ]);
    expect(textOf(message)).toBe(TEXT);
    expect(message.content.map(({ citations }) => citations?.map(({ url }) => url))).toEqual([
      undefined,
      undefined,
      undefined,
      [CITED, 'https://tests.example/kettles'],
    ]);
    expect(answer.headers).toMatchObject({
      'anthropic-ratelimit-requests-limit': '4000',
      'anthropic-ratelimit-requests-remaining': '3999',
      'anthropic-ratelimit-requests-reset': '2026-03-01T12:01:00Z',
    });
  });

  it('pauses one of eight answers after the search, and continues this answer if the next request contains its content', async () => {
    const turns: Message[] = [];
    for (let n = 0; n < 8; n++) {
      publishAnswer('anthropic', `Answer ${n}.`);
      turns.push((await ask('anthropic')).json<Message>());
    }
    const paused = turns.filter(({ stop_reason: reason }) => reason === 'pause_turn');
    expect(paused.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['server_tool_use', 'web_search_tool_result'],
    ]);
    const { body } = ASKED.anthropic!;
    const messages = [
      { role: 'user', content: PROMPT },
      { role: 'assistant', content: paused[0]?.content },
    ];
    const rest = (await ask('anthropic', { body: { ...body, messages } })).json<Message>();
    expect([rest.stop_reason, textOf(rest)]).toEqual(['end_turn', 'Answer 7.']);
    expect(rest.content.map(({ type }) => type)).toEqual(['text']);
  });
});

describe('perplexity', () => {
  it('answers with its citations and search results', async () => {
    publishAnswer('perplexity');
    const answer = (await ask('perplexity')).json<Record<string, unknown>>();
    expect(answer).toMatchObject({
      model: 'sonar',
      citations: [CITED, 'https://tests.example/kettles'],
      search_results: [
        { url: CITED, title: 'On kettles' },
        { url: 'https://tests.example/kettles', title: 'tests.example' },
      ],
      choices: [{ message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
    });
  });
});

describe('gemini', () => {
  interface Content {
    modelVersion: string;
    candidates: {
      content: { parts: { text: string }[] };
      groundingMetadata?: {
        webSearchQueries: string[];
        groundingChunks: { web: { uri: string; title: string } }[];
        groundingSupports: { segment: object; groundingChunkIndices: number[] }[];
        searchEntryPoint: { renderedContent: string };
      };
    }[];
  }

  it('answers with cited pages whose addresses lead through Google, and with offsets in bytes', async () => {
    publishAnswer('gemini');
    const { modelVersion, candidates } = (await ask('gemini')).json<Content>();
    const [candidate] = candidates;
    expect([modelVersion, candidate?.content.parts[0]?.text]).toEqual(['gemini-3.5-flash', TEXT]);
    const grounding = candidate!.groundingMetadata!;
    expect(grounding.webSearchQueries).toEqual(['which kettle is the best']);
    expect(grounding.groundingChunks.map(({ web }) => web.title)).toEqual([
      'kettles.example',
      'tests.example',
    ]);
    for (const { web } of grounding.groundingChunks)
      expect(web.uri).toMatch(/^https:\/\/vertexaisearch\.cloud\.google\.com\/grounding-api-redirect\/AUZ/);
    const startIndex = Buffer.byteLength(TEXT.slice(0, TEXT.indexOf('https')));
    const text = 'https://tests.example/kettles';
    expect(grounding.groundingSupports).toEqual([
      { segment: { endIndex: Buffer.byteLength(TEXT), text: TEXT }, groundingChunkIndices: [0] },
      { segment: { startIndex, endIndex: startIndex + text.length, text }, groundingChunkIndices: [1] },
    ]);
    expect(grounding.searchEntryPoint.renderedContent).toContain('>which kettle is the best</a>');
  });

  it('answers without grounding data if the request has no search tool, or if the answer cites nothing', async () => {
    const bare = (await ask('gemini')).json<Content>();
    expect(bare.candidates[0]?.groundingMetadata).toBeUndefined();
    publishAnswer('gemini');
    const { contents } = ASKED.gemini!.body;
    const plain = (await ask('gemini', { body: { contents } })).json<Content>();
    expect(plain.candidates[0]?.groundingMetadata).toBeUndefined();
  });
});

describe.each(Object.keys(ASKED))('%s', (engine) => {
  it('gives a default answer until a post is published, and then its newest post', async () => {
    const byDefault = await ask(engine);
    expect([byDefault.status, byDefault.text.includes('it depends on what matters')]).toEqual([200, true]);
    const others = Object.keys(ASKED).filter((other) => other !== engine);
    for (const other of others) publishAnswer(other, 'Not mine');
    publishAnswer(engine, 'The first');
    client.clock.pass(5);
    publishAnswer(engine, 'The second');
    const { text } = await ask(engine);
    expect(['Not mine', 'The first', 'The second'].map((sentence) => text.includes(sentence))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('refuses a missing or wrong key', async () => {
    const status = async (key: string) => (await ask(engine, { headers: keyedBy(engine, key) })).status;
    expect(await status('wrong')).toBe(engine === 'gemini' ? 400 : 401);
    expect(await status('')).toBe(engine === 'gemini' ? 403 : 401);
    expect(await status('any other')).toBe(200);
  });

  it('refuses an unknown model, and a request without a prompt', async () => {
    const { body } = ASKED[engine]!;
    const other = await ask(engine, {
      body: { ...body, model: 'llama-4' },
      ...(engine === 'gemini' && { path: '/v1beta/models/llama-4:generateContent' }),
    });
    expect(other.status).toBe(engine === 'perplexity' ? 400 : 404);
    const { input: _, messages: __, contents: ___, ...promptless } = body;
    expect((await ask(engine, { body: promptless })).status).toBe(400);
  });
});

describe('refusals of the engines', () => {
  const errorOf = async (engine: string, kind: '401' | '403' | '404' | '429' | '500' | '503') => {
    client.simulator.faults.add({ source: 'ai_answers', kind, times: 1 });
    const answer = await ask(engine);
    expect(answer.status).toBe(Number(kind));
    return answer.json<{ error: Record<string, unknown> }>().error;
  };

  it('have the error codes and types of the engine', async () => {
    expect(await errorOf('openai', '401')).toMatchObject({ code: 'invalid_api_key' });
    expect(await errorOf('openai', '404')).toMatchObject({ code: 'model_not_found' });
    expect(await errorOf('openai', '429')).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(await errorOf('openai', '500')).toMatchObject({ type: 'server_error' });
    expect(await errorOf('anthropic', '401')).toMatchObject({ type: 'authentication_error' });
    expect(await errorOf('anthropic', '403')).toMatchObject({ type: 'permission_error' });
    expect(await errorOf('anthropic', '429')).toMatchObject({ type: 'rate_limit_error' });
    expect(await errorOf('anthropic', '503')).toMatchObject({ type: 'overloaded_error' });
    expect(await errorOf('perplexity', '401')).toMatchObject({ type: 'invalid_api_key', code: 401 });
    expect(await errorOf('perplexity', '429')).toMatchObject({ code: 429 });
    expect(await errorOf('gemini', '429')).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      details: [{}, { retryDelay: '48s' }],
    });
    expect(await errorOf('gemini', '503')).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
  });

  it('come only from one engine if the fault contains the path of this engine', async () => {
    client.simulator.faults.add({ source: 'ai_answers', kind: '500', times: 0, path: '/v1/messages' });
    expect([(await ask('anthropic')).status, (await ask('openai')).status]).toEqual([500, 200]);
  });
});
