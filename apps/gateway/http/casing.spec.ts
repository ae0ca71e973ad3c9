import fc from 'fast-check';
import { toCamelCase } from './casing.js';

const parse = (text: string): unknown => JSON.parse(text);

describe('toCamelCase', () => {
  it('converts snake_case keys to camelCase at every level, and does not change values', () => {
    const { body, faults } = toCamelCase({
      refresh_interval_seconds: 60,
      global_criteria: { price_min: 1, query: 'snake_case stays' },
      sources: [{ searches: [{ overrides_enabled: true }] }],
    });
    expect(faults).toEqual([]);
    expect(body).toEqual({
      refreshIntervalSeconds: 60,
      globalCriteria: { priceMin: 1, query: 'snake_case stays' },
      sources: [{ searches: [{ overridesEnabled: true }] }],
    });
  });

  it('does not change camelCase keys', () => {
    const body = { refreshIntervalSeconds: 60, sources: [{ source: 'rss' }] };
    expect(toCamelCase(body).body).toEqual(body);
  });

  it('reports a key that is given in both spellings, with the path of the key', () => {
    const { faults } = toCamelCase({ sources: [{ refresh_interval_seconds: 1, refreshIntervalSeconds: 2 }] });
    expect(faults).toEqual([
      {
        path: 'sources[0].refreshIntervalSeconds',
        message: 'is given twice: as refresh_interval_seconds and as refreshIntervalSeconds',
      },
    ]);
  });

  it('returns the sender’s spelling of each key, or the snake_case spelling of a key that was sent in both spellings', () => {
    const body = {
      webhook_url: '',
      name: '',
      one: { aiStep: 1, ai_prompt: 1 },
      two: { ai_step: 1, aiPrompt: 1 },
    };
    expect(Object.fromEntries(toCamelCase(body).spelling)).toEqual({
      webhookUrl: 'webhook_url',
      name: 'name',
      aiStep: 'ai_step',
      aiPrompt: 'ai_prompt',
      one: 'one',
      two: 'two',
    });
  });

  it('does not change keys that are not snake_case', () => {
    const body = { _private: 1, Upper_Case: 2, trailing_: 3, 'a-b_c': 4, double__under: 5 };
    expect(toCamelCase(body).body).toEqual(body);
  });

  it('keeps the keys inside filters byte for byte at any depth [requests.user-data]', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (filters) => {
        const sent = parse(JSON.stringify({ global_criteria: { filters } }));
        const { body, faults } = toCamelCase(sent);
        expect(faults).toEqual([]);
        expect(JSON.stringify(body)).toBe(JSON.stringify({ globalCriteria: { filters } }));
      }),
    );
  });

  it('keeps the field names of an agent step, and converts the keys below them [requests.user-data]', () => {
    const { body } = toCamelCase({
      ai_step: { schema: { my_field: { max_length: 3 }, max_length: { type: 'string' } } },
    });
    expect(body).toEqual({
      aiStep: { schema: { my_field: { maxLength: 3 }, max_length: { type: 'string' } } },
    });
  });

  it('treats __proto__ as an ordinary key and changes no prototype', () => {
    const text =
      '{"globalCriteria":{"filters":{"__proto__":{"a_b":1}}},"aiStep":{"schema":{"__proto__":{"type":"string"}}}}';
    const { body } = toCamelCase(parse(text));
    expect(JSON.stringify(body)).toBe(text);
    expect(({} as { a_b?: number }).a_b).toBeUndefined();
  });
});
