import { ENGINES, type Answer, type Engine } from './answer.js';
import { ENGINE_APIS } from './engines.js';
import {
  answered,
  anthropicAnswer,
  geminiAnswer,
  openaiAnswer,
  perplexityAnswer,
  type GivenAnswer,
} from './testing/fixtures.js';

const read = (engine: Engine, body: unknown): Answer => {
  const turn = ENGINE_APIS[engine].read(body, []);
  if (!('answer' in turn)) throw new Error('the engine has paused');
  return turn.answer;
};
const faultOf = (engine: Engine, body: unknown) => {
  try {
    read(engine, body);
  } catch (error) {
    return `${(error as { kind?: string }).kind}: ${(error as Error).message}`;
  }
  return 'none';
};
const part = (answer: object) =>
  answer as { output: Record<string, unknown>[]; content: Record<string, unknown>[] };

describe('answers of every engine', () => {
  const given: GivenAnswer = {
    text: 'Acme [1], then Byron [2].',
    cites: [
      ['https://acme.example/a', 'Acme'],
      ['https://news.example/b', 'News'],
      ['https://acme.example/a', 'Acme again'],
    ],
    queries: ['best lamp', 'lamp test', 'best lamp'],
  };

  it.each(ENGINES)(
    'are read with their text, model and queries, and with each cited page once, in order (%s)',
    (engine) => {
      const { text, citations, queries, model } = read(engine, answered(engine, given).body);
      expect(text).toBe('Acme [1], then Byron [2].');
      expect(citations).toEqual([
        { url: 'https://acme.example/a', title: 'Acme' },
        { url: 'https://news.example/b', title: 'News' },
      ]);
      // Perplexity does not return its web searches.
      expect(queries).toEqual(engine === 'perplexity' ? [] : ['best lamp', 'lamp test']);
      expect(model).not.toBe('');
    },
  );

  it.each(ENGINES)('are valid without citations (%s)', (engine) => {
    expect(read(engine, answered(engine, {}).body)).toMatchObject({
      text: 'Acme makes lamps.',
      citations: [],
    });
  });

  it.each(ENGINES)('are refused as an unknown shape if they have no text (%s)', (engine) => {
    expect(faultOf(engine, answered(engine, { text: ' ' }).body)).toMatch(
      /^unknown_shape: ai_answers answered in an unknown shape: expected .+ with a text/,
    );
    for (const body of [{}, [], null, { output: {} }, { content: [] }, { choices: [] }, { candidates: [] }])
      expect(faultOf(engine, body)).toMatch(new RegExp(`^unknown_shape: .+ \\(${engine}\\)$`));
  });
});

describe('answers of OpenAI', () => {
  it('cite pages without the parameter that OpenAI adds to their addresses', () => {
    const marked = [
      ['https://acme.example/a?utm_source=openai', ''],
      ['https://acme.example/b?utm_source=openai&x=1', ''],
      ['https://acme.example/c?x=1&utm_source=openai#top', ''],
      ['https://acme.example/d?utm_source=other', ''],
      ['https://acme.example/a', 'Acme'],
      ['ftp://acme.example', ''],
    ] as const;
    expect(read('openai', openaiAnswer({ cites: marked })).citations).toEqual([
      { url: 'https://acme.example/a', title: 'Acme' },
      { url: 'https://acme.example/b?x=1', title: '' },
      { url: 'https://acme.example/c?x=1#top', title: '' },
      { url: 'https://acme.example/d?utm_source=other', title: '' },
    ]);
  });

  it('can have several parts, and list visited pages separately from cited pages', () => {
    const answer = part(openaiAnswer({ queries: ['lamp'] }));
    const [, search, message] = answer.output;
    const more = { ...search, action: { type: 'open_page', url: 'https://opened.example/' } };
    const both = { ...search, action: { type: 'search', query: 'lamp', queries: ['lamp', 'lights'] } };
    const next = { ...message, content: [{ type: 'output_text', text: ' And more.', annotations: [] }] };
    const body = { ...answer, output: [search, more, both, message, next] };
    expect(read('openai', body)).toMatchObject({
      text: 'Acme makes lamps. And more.',
      queries: ['lamp', 'lights'],
      sources: [
        { url: 'https://looked.example/at', title: '' },
        { url: 'https://opened.example/', title: '' },
      ],
    });
  });

  it('are read without the comments before them, even if they are refusals', () => {
    const answer = part(openaiAnswer({}));
    const message = answer.output.at(-1)!;
    const aside = { ...message, phase: 'commentary', content: [{ type: 'output_text', text: 'Looking.' }] };
    expect(read('openai', { ...answer, output: [aside, { ...message, phase: 'final_answer' }] }).text).toBe(
      'Acme makes lamps.',
    );
    const refusal = { ...message, content: [{ type: 'refusal', refusal: 'I cannot say.' }] };
    expect(read('openai', { ...answer, output: [refusal] }).text).toBe('I cannot say.');
  });

  it.each([
    [
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'truncated: ai_answers: openai stopped before the end of its answer (max_output_tokens); the answer is not counted',
    ],
    [
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'forbidden: ai_answers: openai refused to answer this prompt (content_filter); change the prompt',
    ],
    [
      { status: 'failed', error: { code: 'server_error', message: 'Oh <no>' } },
      'truncated: ai_answers: openai stopped before the end of its answer (server_error); the answer is not counted',
    ],
    [
      { status: 'failed', error: { code: 'Sorry, <b>no</b>' } },
      'truncated: ai_answers: openai stopped before the end of its answer (it does not say why); the answer is not counted',
    ],
  ])('are failures if they end early or the content filter refuses the prompt: %j', (more, fault) => {
    expect(faultOf('openai', { ...openaiAnswer({}), ...more })).toBe(fault);
  });
});

describe('an answer in several parts', () => {
  const texts = ['Acme', ' ', 'lamps', '.\n\n', 'Good.'];

  it.each<[Engine, object]>([
    ['anthropic', { ...anthropicAnswer({}), content: texts.map((text) => ({ type: 'text', text })) }],
    [
      'openai',
      {
        ...openaiAnswer({}),
        output: [{ type: 'message', content: texts.map((text) => ({ type: 'output_text', text })) }],
      },
    ],
    [
      'gemini',
      {
        ...geminiAnswer({}),
        candidates: [{ finishReason: 'STOP', content: { parts: texts.map((text) => ({ text })) } }],
      },
    ],
  ])('has the text of its parts, joined without separators (%s)', (engine, answer) => {
    expect(read(engine, answer).text).toBe('Acme lamps.\n\nGood.');
  });
});

describe('answers of Anthropic', () => {
  it('contain a warning if a web search failed, which has an object instead of a list as its result', () => {
    const answer = part(anthropicAnswer({}));
    const failed = {
      type: 'web_search_tool_result',
      tool_use_id: 'srv_9',
      content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
    };
    expect(read('anthropic', { ...answer, content: [failed, ...answer.content] })).toMatchObject({
      text: 'Acme makes lamps.',
      warnings: [
        'ai_answers: a web search of anthropic failed (max_uses_exceeded); anthropic answered without its results',
      ],
    });
  });

  it('are joined from several responses if Anthropic pauses', () => {
    const paused = { ...anthropicAnswer({ text: 'So far' }), stop_reason: 'pause_turn' };
    const turn = ENGINE_APIS.anthropic.read(paused, [{ type: 'text', text: 'Before. ' }]);
    expect(turn).toEqual({ continueWith: [{ type: 'text', text: 'Before. ' }, part(paused).content[0]] });
    const earlier = 'continueWith' in turn ? turn.continueWith : [];
    const question = { prompt: 'Which lamp?', model: 'm', country: undefined };
    expect(ENGINE_APIS.anthropic.body(question, earlier)).toMatchObject({
      messages: [
        { role: 'user', content: 'Which lamp?' },
        { role: 'assistant', content: earlier },
      ],
    });
    const last = ENGINE_APIS.anthropic.read(anthropicAnswer({ text: '. Done.' }), earlier);
    expect('answer' in last && last.answer.text).toBe('Before. So far. Done.');
  });

  it.each([
    [
      'max_tokens',
      'truncated: ai_answers: anthropic stopped before the end of its answer (max_tokens); the answer is not counted',
    ],
    [
      'refusal',
      'forbidden: ai_answers: anthropic refused to answer this prompt (refusal); change the prompt',
    ],
  ])('are failures if their stop_reason is %s', (stop_reason, fault) => {
    expect(faultOf('anthropic', { ...anthropicAnswer({}), stop_reason })).toBe(fault);
  });
});

describe('answers of Perplexity', () => {
  const cites = [1, 2, 3].map((n) => [`https://p.example/${n}`, `Page ${n}`] as const);

  it('cite the pages to which their marks refer: [1] is the first page', () => {
    const { citations, sources } = read(
      'perplexity',
      perplexityAnswer({ text: 'Acme.[3][1] [9] [0]', cites }),
    );
    expect(citations).toEqual([
      { url: 'https://p.example/3', title: 'Page 3' },
      { url: 'https://p.example/1', title: 'Page 1' },
    ]);
    expect(sources.map(({ url }) => url)).toEqual(cites.map(([url]) => url));
  });

  it('cite every page if they have no marks, and can lack `citations` or `search_results`', () => {
    expect(read('perplexity', perplexityAnswer({ text: 'Acme.', cites })).citations.length).toBe(3);
    const bare = { ...perplexityAnswer({ text: 'Acme [1].', cites }), search_results: undefined };
    expect(read('perplexity', bare).citations).toEqual([{ url: 'https://p.example/1', title: '' }]);
    const results = { ...perplexityAnswer({ text: 'Acme [2].', cites }), citations: undefined };
    expect(read('perplexity', results).citations).toEqual([{ url: 'https://p.example/2', title: 'Page 2' }]);
  });

  it('are failures if they are incomplete', () => {
    const choices = [{ index: 0, message: { content: 'Ac' }, finish_reason: 'length' }];
    expect(faultOf('perplexity', { ...perplexityAnswer({}), choices })).toBe(
      'truncated: ai_answers: perplexity stopped before the end of its answer (length); the answer is not counted',
    );
  });
});

describe('answers of Gemini', () => {
  it('contain the HTML that Google requires, but not the thoughts of the model', () => {
    expect(read('gemini', geminiAnswer({ queries: ['lamp'] }))).toMatchObject({
      text: 'Acme makes lamps.',
      searchEntryPoint: '<div>lamps</div>',
      queries: ['lamp'],
    });
  });

  it('have no citations and no queries if the model did not search', () => {
    expect(read('gemini', geminiAnswer({}))).toMatchObject({
      citations: [],
      queries: [],
      searchEntryPoint: undefined,
    });
  });

  it('cite pages with an address that redirects, and with a domain as the title', () => {
    const uri = 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/AU1';
    expect(read('gemini', geminiAnswer({ cites: [[uri, 'acme.com']] })).citations).toEqual([
      { url: uri, title: 'acme.com' },
    ]);
  });

  it.each([
    [
      { promptFeedback: { blockReason: 'SAFETY' }, candidates: undefined },
      'forbidden: ai_answers: gemini refused to answer this prompt (SAFETY); change the prompt',
    ],
    [
      { candidates: [{ finishReason: 'RECITATION' }] },
      'forbidden: ai_answers: gemini refused to answer this prompt (RECITATION); change the prompt',
    ],
    [
      { candidates: [{ finishReason: 'MAX_TOKENS', content: { parts: [{ text: 'Ac' }] } }] },
      'truncated: ai_answers: gemini stopped before the end of its answer (MAX_TOKENS); the answer is not counted',
    ],
  ])('are failures if they are incomplete or refused: %j', (more, fault) => {
    expect(faultOf('gemini', { ...geminiAnswer({}), ...more })).toBe(fault);
  });
});
