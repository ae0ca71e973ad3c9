import { SOURCE_IDS } from '#contracts';
import { newId } from '#kernel';

/** Maximum size of a body, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

const sound = {
  name: 'Acme',
  refreshIntervalSeconds: 600,
  globalCriteria: { market: 'global', query: 'acme' },
  sources: [{ source: 'hackernews', enabled: true }],
};

/** Returns a JSON list that repeats the element until the body is full. */
function filling(element: string): string {
  const count = Math.floor((MAX_BODY_BYTES - 4096) / (element.length + 1));
  return `[${Array<string>(count).fill(element).join(',')}]`;
}

/** Returns the body `sound` in which one key is set to a JSON text. */
function withKey(key: string, json: string): string {
  return JSON.stringify({ ...sound, [key]: 0 }).replace(`"${key}":0`, `"${key}":${json}`);
}

function withCriteria(key: string, json: string): string {
  return withKey('globalCriteria', `{"market":"global","${key}":${json}}`);
}

const repeated = (text: string) =>
  JSON.stringify(text.repeat(Math.floor((MAX_BODY_BYTES - 4096) / Buffer.byteLength(text))));

/**
 * Returns a keyword in a valid form with this number of searches on every source, each with this number of terms. The
 * keyword is refused later, because some sources need filters.
 */
function manySearches(searches: number, terms: number): string {
  const overrides = { terms: Array.from({ length: terms }, (_, n) => `term ${n}`) };
  const sources = SOURCE_IDS.map((source, s) => ({
    source,
    enabled: true,
    searches: Array.from({ length: searches }, (_, n) => ({
      id: newId(),
      label: `search ${s} ${n}`,
      overrides: { ...overrides, query: `query ${s} ${n}` },
    })),
  }));
  return JSON.stringify({ ...sound, sources });
}

function manyRules(): string {
  const clause = { field: 'text', op: 'contains', value: 'x'.repeat(1000) };
  const rule = {
    name: 'rule',
    when: { kind: 'item', all: Array(8).fill(clause) as unknown[] },
    then: Array(4).fill({ type: 'mark', label: 'starred' }) as unknown[],
  };
  return JSON.stringify({ ...sound, rules: Array(20).fill(rule) as unknown[] });
}

/** Returns a JSON object with as many distinct keys of this length as fit into a body. */
function manyKeys(letters: number): string {
  const count = Math.floor((MAX_BODY_BYTES - 4096) / (letters + 5));
  const key = (n: number) => n.toString(36).padStart(letters, '_');
  return `{${Array.from({ length: count }, (_, n) => `"${key(n)}":1`).join(',')}}`;
}

/** Bodies of at most 1 MiB that are designed to keep a gateway busy, by description. */
export const WORST_BODIES: Readonly<Record<string, string>> = {
  'half a million numbers as sources': withKey('sources', filling('1')),
  'empty objects as sources': withKey('sources', filling('{}')),
  'sources that are nearly right': withKey('sources', filling('{"source":"nackernews","enabled":1}')),
  'empty lists as rules': withKey('rules', filling('[]')),
  'empty texts as mutes': withKey('muteRules', filling('""')),
  'empty texts as terms': withCriteria('terms', filling('""')),
  'half a million unknown values': withKey('sauces', filling('0')),
  'distinct unknown keys': manyKeys(8),
  'distinct unknown keys that resemble a known key': JSON.stringify({
    ...sound,
    ...Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`refreshIntervalSecond${n}`, 1])),
  }),
  'one unknown key of a mebibyte': `{${repeated('a.')}:1}`,
  'a name of a mebibyte': withKey('name', repeated('n')),
  'a name of surrogate pairs': withKey('name', repeated('😀')),
  'a term of a mebibyte': withCriteria('terms', `[${repeated('é')},"b"]`),
  'a time zone of a mebibyte': withKey(
    'schedule',
    `{"startsAt":null,"endsAt":null,"timezone":${repeated('Europe/')}}`,
  ),
  'an address of a mebibyte': withKey(
    'webhookUrl',
    `"https://example.org/${'a'.repeat(MAX_BODY_BYTES - 8192)}"`,
  ),
  'filters of a mebibyte': withCriteria('filters', `{"feed_urls":${filling('"http://e.org/"')}}`),
  'infinite numbers below a long key': withCriteria(
    'filters',
    `{${JSON.stringify('k'.repeat(100_000))}:[${Array(900).fill('1e999').join(',')}]}`,
  ),
  'lists nested half a million levels deep': withKey('name', '['.repeat(500_000) + ']'.repeat(500_000)),
  'a tree of faults with as many searches as a source can have': withKey(
    'sources',
    `[${Array(14)
      .fill(
        `{"source":"x","enabled":1,"searches":[${Array(100).fill('{"id":1,"label":2,"a":3}').join(',')}]}`,
      )
      .join(',')}]`,
  ),
  // A body can contain 8,000 values (apps/gateway/http/counted-json.ts).
  'as many searches with two terms as 8,000 values allow': manySearches(70, 2),
  'as many searches with fifty terms as 8,000 values allow': manySearches(10, 50),
  'every rule that a keyword can have': manyRules(),
  'text that is no JSON': `{"name":${'"a'.repeat(500_000)}`,
};
