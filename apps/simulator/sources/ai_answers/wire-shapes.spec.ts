import { ASKED, askEngine, keyedBy, type EngineRequest } from '../../testing/ai-answers-client.js';
import { comparedTitle, hasRecorded, recorded, type Json } from '../../testing/recorded-shapes.js';
import { SimulatorClient } from '../../testing/simulator-client.js';

/** Expects exactly the same keys. */
function expectSameKeys(actual: unknown, known: unknown): void {
  expect(Object.keys(actual as object).sort()).toEqual(Object.keys(known as object).sort());
}

/** Expects only keys that the recorded object has. */
function expectKnownKeys(actual: unknown, known: unknown): void {
  expect(Object.keys(known as object)).toEqual(expect.arrayContaining(Object.keys(actual as object)));
}

(hasRecorded ? describe : describe.skip)(`the engines, ${comparedTitle}`, () => {
  let client: SimulatorClient;

  beforeAll(async () => {
    client = await SimulatorClient.start();
    for (const community of ['openai', 'anthropic', 'perplexity', 'gemini', 'anthropic']) {
      const text = 'One is good. Read https://kettles.example/best of it.';
      const link = 'https://tests.example/kettles';
      client.simulator.world.publish('ai_answers', { text, title: 'On kettles', community, link });
    }
  });
  afterAll(() => client.stop());

  async function ask<T>(engine: string, more: Partial<EngineRequest> = {}): Promise<T> {
    return (await askEngine(client, engine, more)).json<T>();
  }
  const refused = <T>(engine: string) => ask<T>(engine, { headers: keyedBy(engine, 'wrong') });

  it('openai: the answer, its search, its text and its citations have the recorded keys', async () => {
    interface Response extends Json {
      output: [{ action: Json }, { content: [{ annotations: Json[] }] }];
      tools: [Json];
    }
    const known = recorded<Response>('ai_answers/openai-responses-5.json');
    const answer = await ask<Response>('openai');
    expectSameKeys(answer, known);
    expectSameKeys(answer.usage, known.usage);
    expectSameKeys(answer.tools[0], known.tools[0]);
    const [[call, message], [knownCall, knownMessage]] = [answer.output, known.output];
    expectSameKeys(call, knownCall);
    expectSameKeys(call.action, knownCall.action);
    expectSameKeys(message, knownMessage);
    expectSameKeys(message.content[0], knownMessage.content[0]);
    for (const citation of message.content[0].annotations)
      expectSameKeys(citation, knownMessage.content[0].annotations[0]);
    const sourced = await ask<Response>('openai', {
      body: { ...ASKED.openai!.body, include: ['web_search_call.action.sources'] },
    });
    type WithSearches = { output: { action?: { sources?: object[] } }[] };
    const searched = recorded<WithSearches>('ai_answers/openai-responses-1.json').output.find(
      ({ action }) => action?.sources,
    );
    expect((sourced.output[0].action.sources as object[])[0]).toMatchObject({ type: 'url' });
    expectSameKeys((sourced.output[0].action.sources as object[])[0], searched!.action!.sources![0]);
  });

  it('anthropic: the message and each kind of block have the recorded keys', async () => {
    type Block = Json & { type: string; citations?: Json[]; content?: Json[] };
    type Message = Json & { content: Block[] };
    const known = recorded<Message>('ai_answers/anthropic-messages-3.json');
    const message = await ask<Message>('anthropic');
    expectSameKeys(message, known);
    expectSameKeys(message.usage, known.usage);
    const kindOf = ({ type, citations }: Block) => (citations ? `${type} with citations` : type);
    const ofKind = new Map(known.content.map((block) => [kindOf(block), block]));
    expect(message.content.map(kindOf)).toEqual([...ofKind.keys()].sort(byAnswerOrder));
    for (const block of message.content) {
      const like = ofKind.get(kindOf(block));
      expectSameKeys(block, like);
      if (block.citations) expectSameKeys(block.citations[0], like?.citations?.[0]);
      if (Array.isArray(block.content)) expectSameKeys(block.content[0], like?.content?.[0]);
    }
  });

  it('perplexity: the completion, its results and its costs have the recorded keys', async () => {
    type Completion = Json & { usage: Json; search_results: Json[]; choices: Json[] };
    const known = recorded<Completion>('ai_answers/perplexity-chat-3.json');
    const answer = await ask<Completion>('perplexity');
    expectSameKeys(answer, known);
    expectSameKeys(answer.usage, known.usage);
    expectSameKeys(answer.usage.cost, known.usage.cost);
    expectSameKeys(answer.choices[0], known.choices[0]);
    // The results of the simulator have no date, like some of the recorded results.
    const undated = recorded<Completion>('ai_answers/perplexity-chat-4.json').search_results.find(
      (result) => !('date' in result),
    );
    expectSameKeys(answer.search_results[0], undated);
  });

  it('gemini: the candidate and its grounding have the recorded keys', async () => {
    type Grounding = Record<'groundingChunks' | 'groundingSupports', { web?: Json; segment?: Json }[]>;
    type Candidate = Json & { content: { parts: Json[] }; groundingMetadata: Json & Grounding };
    type Content = Json & { candidates: [Candidate]; usageMetadata: Json };
    const known = recorded<Content>('ai_answers/gemini-generatecontent-4.json');
    const answer = await ask<Content>('gemini');
    expectSameKeys(answer, known);
    expectKnownKeys(answer.usageMetadata, known.usageMetadata);
    const [[candidate], [knownCandidate]] = [answer.candidates, known.candidates];
    expectSameKeys(candidate, knownCandidate);
    expectSameKeys(candidate.content.parts[0], knownCandidate.content.parts[0]);
    const [grounding, knownGrounding] = [candidate.groundingMetadata, knownCandidate.groundingMetadata];
    expectSameKeys(grounding, knownGrounding);
    expectSameKeys(grounding.groundingChunks[0], knownGrounding.groundingChunks[0]);
    expectSameKeys(grounding.groundingChunks[0]?.web, knownGrounding.groundingChunks[0]?.web);
    expectSameKeys(grounding.groundingSupports[0], knownGrounding.groundingSupports[0]);
    expectSameKeys(grounding.groundingSupports[1]?.segment, knownGrounding.groundingSupports[1]?.segment);
  });

  it('wrong API keys are refused with the recorded errors', async () => {
    const openai = recorded<{ error: Json }>('ai_answers/openai-error-401-1.json').error;
    expect((await refused<{ error: Json }>('openai')).error).toEqual({
      ...openai,
      message: String(openai.message).replace('invalid-key', 'wrong'),
    });
    const anthropic = await refused<Json>('anthropic');
    const known = recorded<Json>('ai_answers/anthropic-error-401-1.json');
    expectSameKeys(anthropic, known);
    expect(anthropic.error).toEqual(known.error);
    expect(await refused('perplexity')).toEqual(recorded<Json>('ai_answers/perplexity-error-401-1.json'));
    expect(await refused('gemini')).toEqual(recorded<Json>('ai_answers/gemini-error-400-1.json'));
  });
});

/**
 * Sorts kinds of blocks in the order of the answer: the search, its results, text without a source, text with a source.
 */
function byAnswerOrder(a: string, b: string): number {
  const order = ['server_tool_use', 'web_search_tool_result', 'text', 'text with citations'];
  return order.indexOf(a) - order.indexOf(b);
}
