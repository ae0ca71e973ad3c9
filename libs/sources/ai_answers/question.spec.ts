import { ENGINES } from './answer.js';
import { ENGINE_APIS } from './engines.js';

describe('the question to an engine', () => {
  const question = { prompt: 'Which lamp?', model: 'm-1', country: 'DE' };

  it('contains the prompt, the web search, and, except for Gemini, the country', () => {
    expect(ENGINE_APIS.openai.body(question, [])).toEqual({
      model: 'm-1',
      input: 'Which lamp?',
      tools: [{ type: 'web_search', user_location: { type: 'approximate', country: 'DE' } }],
      include: ['web_search_call.action.sources'],
      store: false,
    });
    expect(ENGINE_APIS.anthropic.body(question, [])).toEqual({
      model: 'm-1',
      max_tokens: 4096,
      messages: [{ role: 'user', content: 'Which lamp?' }],
      tools: [
        {
          type: 'web_search_20250305',
          name: 'web_search',
          max_uses: 5,
          user_location: { type: 'approximate', country: 'DE' },
        },
      ],
    });
    expect(ENGINE_APIS.perplexity.body(question, [])).toEqual({
      model: 'm-1',
      messages: [{ role: 'user', content: 'Which lamp?' }],
      web_search_options: { user_location: { country: 'DE' } },
    });
    expect(ENGINE_APIS.gemini.body(question, [])).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Which lamp?' }] }],
      tools: [{ google_search: {} }],
    });
  });

  it('contains no location if the market is not a country', () => {
    for (const engine of ENGINES)
      expect(JSON.stringify(ENGINE_APIS[engine].body({ ...question, country: undefined }, []))).not.toContain(
        'location',
      );
  });

  it('is sent to the address of each engine, with its own header', () => {
    expect(
      ENGINES.map((engine) => [ENGINE_APIS[engine].url('m/1'), ENGINE_APIS[engine].headers('k')]),
    ).toEqual([
      ['https://api.openai.com/v1/responses', { authorization: 'Bearer k' }],
      ['https://api.anthropic.com/v1/messages', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }],
      ['https://api.perplexity.ai/chat/completions', { authorization: 'Bearer k' }],
      [
        'https://generativelanguage.googleapis.com/v1beta/models/m%2F1:generateContent',
        { 'x-goog-api-key': 'k' },
      ],
    ]);
  });
});
