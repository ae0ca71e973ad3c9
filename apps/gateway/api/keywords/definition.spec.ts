import { toJson, type JsonObject } from '@bufbuild/protobuf';
import { KeywordDefinitionSchema } from '#contracts';
import { newId } from '#kernel';
import { readBody } from '../../http/body.js';
import { definitionOf, definitionView } from './definition.js';
import { KeywordBodyDto } from './keyword-body.dto.js';
import {
  faultsOfKeyword,
  fullKeyword,
  minimalKeyword,
  withValue,
  type Json,
} from './testing/keyword-body-under-test.js';

/** Converts a body to the form that is stored, and returns the keys that the API shows for it. */
function read(body: Json): JsonObject {
  const definition = definitionOf(readBody(KeywordBodyDto, body));
  return definitionView(
    toJson(KeywordDefinitionSchema, definition, { alwaysEmitImplicit: true }) as JsonObject,
  );
}

describe('the definition from a create body', () => {
  it('contains the default of every key that the body does not contain [keywords.object]', () => {
    expect(read(minimalKeyword())).toEqual({
      name: 'Acme',
      refreshIntervalSeconds: 600,
      globalCriteria: { market: 'global', query: 'acme' },
      sources: [{ source: 'hackernews', enabled: true, refreshIntervalSeconds: null, searches: [] }],
      webhookUrl: null,
      aiEnabled: false,
      aiPreset: null,
      aiPrompt: null,
      aiStep: null,
      sentimentEnabled: true,
      coBrandsEnabled: false,
      subjectRole: 'own',
      muteRules: [],
      vipAuthors: [],
      rules: [],
      webhookMode: 'all',
      webhookEvents: [],
      channels: [],
      spikeAlert: null,
      backfill: false,
      schedule: null,
      minRelevance: null,
      languages: null,
    });
  });

  it('contains ids in lower case', () => {
    const id = '0190A0B0-0000-7000-8000-00000000000A';
    const body = withValue(withValue(fullKeyword(), 'sources[0].searches[0].id', id), 'rules[0].id', id);
    expect(JSON.stringify(read(body)).split(id.toLowerCase())).toHaveLength(3);
  });

  it('converts a schedule time with an offset to UTC, and keeps a time without an offset as local time [requests.offsets]', () => {
    const schedule = {
      startsAt: '2026-03-01T12:00:00+02:00',
      endsAt: '2026-04-01T12:00',
      timezone: 'Europe/Berlin',
    };
    expect(read({ ...minimalKeyword(), schedule })['schedule']).toEqual({
      ...schedule,
      startsAt: '2026-03-01T10:00:00.000Z',
    });
  });

  it('contains an object for each mute and for each VIP that the body contains as a string', () => {
    const { muteRules, vipAuthors } = read(fullKeyword());
    expect(muteRules).toEqual([
      { value: 'spam', target: 'text', source: null, match: 'word' },
      { value: 'casino', target: 'text', source: null, match: 'word' },
    ]);
    expect(vipAuthors).toEqual([
      { handle: 'ada', source: null, note: null },
      { handle: 'grace', source: null, note: null },
    ]);
  });

  it('gives the same keyword with other ids if it is sent back as a create body', () => {
    const once = read(fullKeyword());
    const withIds = JSON.parse(JSON.stringify(once).replaceAll('"id":""', () => `"id":"${newId()}"`)) as Json;
    expect(faultsOfKeyword(withIds, 'camel')).toEqual([]);
    const withoutIds = (keyword: Json) => JSON.stringify(keyword).replaceAll(/"id":"[^"]*"/g, '"id":""');
    expect(withoutIds(read(withIds) as Json)).toEqual(withoutIds(once as Json));
  });

  it.each([
    ['treats an empty webhook address as no address', 'webhookUrl', '', null],
    ['keeps a price of 0 in criteria', 'globalCriteria.priceMin', 0, 0],
    [
      'keeps the keys and values of filters',
      'globalCriteria.filters',
      { a_b: { C_d: [null, 'x'] } },
      { a_b: { C_d: [null, 'x'] } },
    ],
  ])('%s', (_, path, value, expected) => {
    const body = read(withValue(minimalKeyword(), path, value as Json));
    expect(path.split('.').reduce((at: unknown, key) => (at as Record<string, unknown>)[key], body)).toEqual(
      expected,
    );
  });

  it('keeps a key named __proto__ in filters and in an agent step’s schema', () => {
    const filters = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Json;
    const schema = JSON.parse('{"__proto__":{"type":"string"}}') as Json;
    const body = withValue(
      withValue(fullKeyword(), 'globalCriteria.filters', filters),
      'aiStep.schema',
      schema,
    );
    const { globalCriteria, aiStep } = read(body) as { globalCriteria: JsonObject; aiStep: JsonObject };
    expect(JSON.stringify(globalCriteria.filters)).toBe('{"__proto__":{"x":1},"constructor":2}');
    expect(JSON.stringify(aiStep.schema)).toBe('{"__proto__":{"type":"string"}}');
  });

  it('has overridesEnabled true by default if the body has overrides, and false if the body says false [keywords.overrides]', () => {
    const enabled = (given: Json) =>
      (
        read(withValue(fullKeyword(), 'sources[0].searches[0].overridesEnabled', given))
          .sources as JsonObject[]
      )[0];
    expect((enabled(undefined)!.searches as JsonObject[])[0]?.overridesEnabled).toBe(true);
    expect((enabled(false)!.searches as JsonObject[])[0]?.overridesEnabled).toBe(false);
  });
});
