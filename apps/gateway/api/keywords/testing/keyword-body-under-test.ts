import { createSources } from '#sources';
import { readBody, type Spelling } from '../../../http/body.js';
import { KeywordBodyDto } from '../keyword-body.dto.js';
import { keywordChecks } from '../keyword-faults.js';
import { Refusal, type Fault } from '#kernel';

// For specs only: valid bodies of `POST /v1/keywords`, and the faults of other bodies.

/** JSON of any shape. */
export type Json = string | number | boolean | null | undefined | Json[] | { [key: string]: Json };

/** Returns the smallest valid keyword, on a source that needs no settings. */
export function minimalKeyword(): { [key: string]: Json } {
  return {
    name: 'Acme',
    refreshIntervalSeconds: 600,
    globalCriteria: { market: 'global', query: 'acme' },
    sources: [{ source: 'hackernews', enabled: true }],
  };
}

/** Returns a body with mutes, VIPs, rules, channels, an agent step and a schedule. */
export function fullKeyword(): { [key: string]: Json } {
  return {
    ...minimalKeyword(),
    sources: [
      {
        source: 'hackernews',
        enabled: true,
        refreshIntervalSeconds: null,
        searches: [{ label: 'one', overridesEnabled: true, overrides: { query: 'acme corp' } }],
      },
    ],
    aiStep: {
      instruction: 'Read it.',
      schema: {
        product: { type: 'string' },
        count: { type: 'number' },
        x: { type: 'string' },
        mood: { type: 'enum', values: ['good', 'bad'] },
      },
    },
    muteRules: ['spam', { value: 'casino' }],
    vipAuthors: ['ada', { handle: 'grace' }],
    rules: [
      {
        name: 'loud',
        when: { kind: 'item', all: [{ field: 'likes', op: 'gt', value: 10 }] },
        then: [{ type: 'notify' }],
      },
      {
        name: 'many',
        when: { kind: 'volume', window: '1h', min: 5, multiple: 2 },
        then: [{ type: 'webhook' }],
      },
    ],
    channels: [{ channelId: '0190a0b0-0000-7000-8000-000000000000', mode: 'instant' }],
    schedule: { startsAt: null, endsAt: null, timezone: 'Europe/Berlin' },
    minRelevance: 40,
    languages: ['en', 'pt-BR'],
  };
}

/**
 * Returns a copy of the body with the value at the path, for example `sources[0].enabled`. Undefined removes the key.
 */
export function withValue(body: Json, path: string, value: Json): Json {
  const keys = path.match(/[^.[\]]+/g) ?? [];
  const copy = structuredClone(body);
  let at = copy as Record<string, Json>;
  for (const key of keys.slice(0, -1)) at = at[key] as Record<string, Json>;
  const last = keys.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const sources = createSources({});

/** Returns the first 50 faults that the DTO and `keywordChecks` find in a body. */
export function faultsOfKeyword(body: unknown, spelling: Spelling = 'any'): readonly Fault[] {
  try {
    readBody(KeywordBodyDto, body, spelling, (one) => keywordChecks(one, sources));
    return [];
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'invalid' && error.code === 'VALIDATION')
      return error.details ?? [];
    throw error;
  }
}

/** Returns a text with this number of characters. */
export function chars(length: number): string {
  return 'x'.repeat(length);
}

/** Returns a list of `count` different values. */
export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
