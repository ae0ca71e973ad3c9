import { describeConnector } from '../testing/connector-contract.js';
import { criteriaOf } from '../testing/fake-upstream.js';
import { ENGINES } from './answer.js';
import { aiAnswersSettings, createAiAnswersConnector } from './index.js';
import {
  answered,
  promptCriteria,
  connector,
  engineOf,
  engines,
  openaiAnswer,
  reading,
  settings,
} from './testing/fixtures.js';

describeConnector('ai_answers', {
  create: () => createAiAnswersConnector(settings),
  criteria: promptCriteria(),
  serve: (_, request) => answered(engineOf(request)),
  undated: true,
  neverEmpty: true,
  itemIdOf: (n) => `${ENGINES[n - 1]}:answer.created`,
  changedShapes: [{}, [], { output: 'x' }, { choices: [{ text: 'Acme' }] }, { candidates: [] }],
});

describe('the settings of ai_answers', () => {
  it('must contain at least one key, and have a default model for each engine', () => {
    expect(connector.requiredSettings).toEqual([
      ['AI_OPENAI_TOKEN', 'AI_ANTHROPIC_TOKEN', 'AI_PERPLEXITY_TOKEN', 'AI_GEMINI_TOKEN'],
    ]);
    expect(settings).toEqual({
      openai: { token: 'key-1', model: 'gpt-5.2' },
      anthropic: { token: 'key-2', model: 'claude-haiku-4-5' },
      perplexity: { token: 'key-3', model: 'sonar-pro' },
    });
    expect(aiAnswersSettings({ AI_GEMINI_TOKEN: 'k' })).toEqual({
      gemini: { token: 'k', model: 'gemini-3.5-flash' },
    });
  });

  it('determine the engines and the cost of a check', () => {
    expect(connector.unitsPerCheck?.(promptCriteria())).toBe(3);
    expect(connector.unitsPerCheck?.(promptCriteria({ engines: ['openai', 'gemini'] }))).toBe(1);
    expect(connector.requestsPerSearch(promptCriteria({ engines: ['openai'] }))).toBe(1);
  });
});

describe('criteria of a search on ai_answers', () => {
  it.each([
    [{}],
    [{ brands: undefined }],
    [{ brands: ['A'], engines: ['openai', 'perplexity'], own: [7] }],
    [{ prompt: 'x'.repeat(1_000) }],
    [{ prompt: '💡'.repeat(1_000) }],
    [{ brand_domains: { Acme: ['acme.com', 'https://www.acme.de/'] } }],
  ])('can be %j [keywords.ai-answers]', (more) => {
    expect(connector.checkCriteria(promptCriteria(more))).toEqual([]);
  });

  const prompt = {
    path: 'filters.prompt',
    message: 'a search on ai_answers needs a prompt (the question to the engines) of 1 to 1000 characters',
  };
  const brands = { path: 'filters.brands', message: 'must be a list of 1 to 20 names of brands' };
  const brand = (n: number) => ({
    path: `filters.brands[${n}]`,
    message: 'must be the name of a brand, 1 to 100 characters',
  });
  const list = {
    path: 'filters.engines',
    message: 'must be a list of engines: openai, anthropic, perplexity, gemini',
  };
  it.each([
    [{ prompt: undefined }, [prompt]],
    [{ prompt: '  ' }, [prompt]],
    [{ prompt: ['x'] }, [prompt]],
    [{ prompt: 'x'.repeat(1_001) }, [prompt]],
    [{ brands: 'Acme' }, [brands]],
    [{ brands: [] }, [brands]],
    [{ brands: Array.from({ length: 21 }, (_, n) => `b${n}`) }, [brands]],
    [{ brands: ['Acme', 7, ' ', 'x'.repeat(101)] }, [brand(1), brand(2), brand(3)]],
    [{ engines: 'openai' }, [list]],
    [{ engines: [] }, [list]],
    [{ engines: [7] }, [list]],
    [
      { engines: ['openai', 'grok', 'gemini'] },
      [
        {
          path: 'filters.engines',
          message: '"grok" is not an engine; the engines are openai, anthropic, perplexity, gemini',
        },
        { path: 'filters.engines', message: 'gemini is not configured here; set AI_GEMINI_TOKEN' },
      ],
    ],
    [
      { brand_domains: ['acme.com'] },
      [
        {
          path: 'filters.brand_domains',
          message: 'must map names of brands to lists of their domains, such as {"Acme": ["acme.com"]}',
        },
      ],
    ],
    [
      { brand_domains: { Acme: ['acme.com'], Byron: 'byron.com', Other: ['no domain'] } },
      ['Byron', 'Other'].map((name) => ({
        path: `filters.brand_domains.${name}`,
        message: 'must be a list of 1 to 20 domains, such as "acme.com"',
      })),
    ],
  ])('are refused: %j [keywords.ai-answers]', (more, faults) => {
    expect(connector.checkCriteria(promptCriteria(more))).toEqual(faults);
  });
});

describe('an answer', () => {
  it('is converted to an item', async () => {
    const body = openaiAnswer({
      text: 'Take Acme.',
      cites: [['https://www.acme.com/lamps?utm_source=openai', 'Lamps']],
      queries: ['best lamp'],
    });
    const { read } = reading(() => ({ body }), promptCriteria({ engines: ['openai'] }, 'de'));
    const { items, observations } = await read;
    expect(items.length).toBe(1);
    expect(items[0]).toMatchObject({
      itemId: 'openai:answer.created',
      eventType: 'answer.created',
      kind: 'answer',
      url: 'https://www.acme.com/lamps',
      title: 'Which lamp is the best?',
      text: 'Take Acme.',
      happenedAt: '2026-03-04T12:00:00.000Z',
    });
    expect([items[0]?.author, items[0]?.publishedAt]).toEqual([undefined, undefined]);
    expect(JSON.parse(items[0]?.bodyJson ?? '')).toEqual({
      id: 'openai:answer.created',
      source: 'ai_answers',
      url: 'https://www.acme.com/lamps',
      author: null,
      publishedAt: null,
      engine: 'openai',
      model: 'gpt-5.2-2025-12-11',
      prompt: 'Which lamp is the best?',
      market: 'de',
      text: 'Take Acme.',
      citations: [{ url: 'https://www.acme.com/lamps', title: 'Lamps' }],
      queries: ['best lamp'],
      sources: [{ url: 'https://looked.example/at', title: '' }],
      searchEntryPoint: null,
      brand: null,
      brands: [
        { brand: 'Acme', mentioned: true, cited: true, position: 5 },
        { brand: 'Byron', mentioned: false, cited: false, position: null },
      ],
      previous: null,
      answeredAt: '2026-03-04T12:00:00.000Z',
    });
    expect(observations).toEqual([
      {
        kind: {
          case: 'answer',
          value: {
            engine: 'openai',
            prompt: 'Which lamp is the best?',
            market: 'de',
            model: 'gpt-5.2-2025-12-11',
            answeredAt: '2026-03-04T12:00:00.000Z',
            text: 'Take Acme.',
            citations: [{ url: 'https://www.acme.com/lamps', title: 'Lamps' }],
            queries: ['best lamp'],
          },
        },
      },
    ]);
  });

  it('has the address of the engine’s website as its url if it cites no page', async () => {
    const { items } = await reading(engines()).read;
    expect(items.map(({ url }) => url)).toEqual([
      'https://chatgpt.com/',
      'https://claude.ai/',
      'https://www.perplexity.ai/',
    ]);
  });

  it('lists the query and the terms as its brands if the search names no brands', async () => {
    const brandsRead = async (init: Parameters<typeof criteriaOf>[0]) => {
      const filters = { prompt: 'Which lamp?', engines: ['openai'] };
      const { items } = await reading(engines(), criteriaOf({ ...init, filters })).read;
      return (JSON.parse(items[0]?.bodyJson ?? '') as { brands: { brand: string }[] }).brands.map(
        ({ brand }) => brand,
      );
    };
    expect(await brandsRead({ query: 'Acme' })).toEqual(['Acme']);
    expect(await brandsRead({ query: 'Acme', terms: ['Byron', 'acme', 'Lumen'] })).toEqual([
      'Acme',
      'Byron',
      'Lumen',
    ]);
    expect(await brandsRead({})).toEqual([]);
  });
});
