import { readSettings } from '#config';
import { LLM_SETTINGS, llmOptions } from './settings.js';

const read = (env: NodeJS.ProcessEnv) => llmOptions(readSettings(LLM_SETTINGS, env), 'spec');
const URL = 'https://llm.example/v1';

describe('the settings of the language model', () => {
  it('describe no language model without LLM_URL', () => {
    expect(read({})).toBeUndefined();
    expect(read({ LLM_MODEL: 'm', LLM_TOKEN: 't' })).toBeUndefined();
  });

  it('have temperature 0, request limits and a time limit by default, and no temperature with LLM_TEMPERATURE=none', () => {
    expect(read({ LLM_URL: URL, LLM_MODEL: 'm' })).toEqual({
      ...{ url: URL, model: 'm', token: '', temperature: 0, userAgent: 'spec' },
      ...{ concurrency: 4, requestsPerMinute: 120, timeoutMs: 60_000 },
    });
    expect(read({ LLM_URL: URL, LLM_MODEL: 'm', LLM_TEMPERATURE: 'none' })).toMatchObject({
      temperature: undefined,
    });
  });

  it.each([
    [{ LLM_URL: URL }, 'LLM_MODEL'],
    [{ LLM_URL: 'llm.example', LLM_MODEL: 'm' }, 'LLM_URL'],
    [{ LLM_URL: `${URL}/chat/completions`, LLM_MODEL: 'm' }, 'base address'],
    [{ LLM_URL: URL, LLM_MODEL: 'm', LLM_TEMPERATURE: 'hot' }, 'LLM_TEMPERATURE'],
    [{ LLM_URL: URL, LLM_MODEL: 'm', LLM_CONCURRENCY: '0' }, 'LLM_CONCURRENCY'],
    [{ LLM_URL: URL, LLM_MODEL: 'm', LLM_REQUESTS_PER_MINUTE: '1.5' }, 'LLM_REQUESTS_PER_MINUTE'],
  ])('%j are refused, and the message names the fault', (env, named) => {
    expect(() => read(env)).toThrow(named);
  });
});
