import type { Schema } from './schema.js';

const ID = '0190a0b0-0000-7000-8000-0000000000b1';
const INSTANT = '2026-03-01T12:00:00.000Z';

/** Realistic values for examples, by the name of the key. A value is used only where its type fits. */
const VALUES: Readonly<Record<string, unknown>> = {
  url: 'https://example.com/acme-2',
  webhookUrl: 'https://example.com/hooks/earshot',
  endpoint: 'https://example.com/hooks/earshot',
  atomUrl: 'https://earshot.example.com/feeds/secret.xml',
  jsonUrl: 'https://earshot.example.com/feeds/secret.json',
  hnUrl: 'https://news.ycombinator.com/item?id=1',
  title: 'Acme 2 is out',
  name: 'Acme',
  label: 'Launch',
  text: 'We moved to Acme last week and like it.',
  excerpt: '… moved to Acme last week …',
  email: 'ada@example.com',
  author: 'ada',
  authorName: 'Ada',
  username: 'ada',
  handle: 'ada',
  displayName: 'Ada',
  community: 'selfhosted',
  lang: 'en',
  languages: ['en'],
  market: 'global',
  query: 'acme',
  term: 'acme',
  value: 'giveaway',
  kind: 'story',
  timezone: 'Europe/Berlin',
  currency: 'EUR',
  price: 25,
  message: 'is empty',
  error: 'the request is not valid',
  path: 'name',
  refreshIntervalSeconds: 3600,
  intervalSeconds: 3600,
  intervalFloorSeconds: 600,
  checksPerMonth: 720,
  monthlyCredits: 720,
  creditsRemaining: 59_280,
  monthlyAllowance: 60_000,
  allowanceRemaining: 59_280,
  creditsUsed: 4,
  creditsQuoted: 4,
  creditsPerCheck: 1,
  statusCode: 200,
  durationMs: 84,
  relevance: 92,
  sentimentScore: 0.6,
  score: 0.8,
  version: 3,
  criteriaHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  model: 'earshot-stance',
  reader: 'local',
  bySource: { hackernews: 12 },
  byOperation: { check: 12 },
};

/** Keys whose value is usually null. */
const USUALLY_NULL = new Set([
  ...['dropped', 'pausedReason', 'listing', 'exploreId', 'ai', 'aiStep', 'aiPreset', 'aiPrompt', 'schedule'],
  ...['nextAttemptAt', 'failingSince', 'disabledAt', 'disabledReason', 'reason', 'spikeAlert', 'bucket'],
  ...['score', 'minRelevance', 'languages', 'priceMin', 'priceMax', 'previousPrice'],
]);

/** Optional keys that an ordinary answer does not have. */
const USUALLY_ABSENT = new Set([
  ...['nextCursor', 'refusal', 'url', 'warnings', 'corrected', 'score', 'data'],
  ...['terms', 'page', 'perPage', 'sort', 'repliesTo', 'priceMin', 'priceMax', 'filters', 'match'],
]);

/**
 * Returns an example that fits the schema: every required key, and optional keys where they are usual.
 * @param schemas `components.schemas`
 */
export function sampleOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): unknown {
  return new Sampler(schemas).of(schema, '', new Set());
}

class Sampler {
  constructor(private readonly schemas: Readonly<Record<string, Schema>>) {}

  /**
   * @param within names of the schemas that contain this schema. A schema is not shown again inside itself: a tweet
   *   contains no tweet
   */
  of(schema: Schema, name: string, within: ReadonlySet<string>): unknown {
    const named = nameOf(schema);
    if (named !== undefined) return this.of(this.schemas[named] ?? {}, name, new Set(within).add(named));
    if ('const' in schema) return schema['const'];
    const [alternative] = listOf(schema['allOf']);
    if (alternative) return this.of(alternative, name, within);
    const choices = listOf(schema['anyOf'] ?? schema['oneOf']);
    if (choices.length > 0) return this.choice(choices, name, within);
    const known = VALUES[name];
    if (Array.isArray(schema['enum'])) return schema['enum'].includes(known) ? known : schema['enum'][0];
    if (known !== undefined && fits(known, schema)) return known;
    if (Array.isArray(schema['examples'])) return schema['examples'][0];
    if ('default' in schema) return schema['default'];
    return this.ofType(schema, name, within);
  }

  private choice(choices: readonly Schema[], name: string, within: ReadonlySet<string>): unknown {
    const isNullable = choices.some(({ type }) => type === 'null');
    const [first = {}] = choices.filter(({ type }) => type !== 'null');
    if (isNullable && (USUALLY_NULL.has(name) || within.has(nameOf(first) ?? ''))) return null;
    return this.of(first, name, within);
  }

  private ofType(schema: Schema, name: string, within: ReadonlySet<string>): unknown {
    switch (schema['type']) {
      case 'object':
        return this.object(schema, within);
      case 'array':
        return this.list(schema, name, within);
      case 'integer':
      case 'number':
        return Math.min(Math.max(1, Number(schema['minimum'] ?? 0)), Number(schema['maximum'] ?? 1));
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return textOf(schema, name);
    }
  }

  private list(schema: Schema, name: string, within: ReadonlySet<string>): unknown[] {
    const items = (schema['items'] ?? {}) as Schema;
    if (within.has(nameOf(items) ?? '')) return [];
    const item = this.of(items, singular(name), within);
    return Array.from({ length: Math.max(1, Number(schema['minItems'] ?? 1)) }, () => item);
  }

  private object(schema: Schema, within: ReadonlySet<string>): unknown {
    const required = new Set((schema['required'] as readonly string[] | undefined) ?? []);
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
    return Object.fromEntries(
      properties
        .filter(([key]) => required.has(key) || !USUALLY_ABSENT.has(key))
        .map(([key, value]) => [key, this.of(value, key, within)]),
    );
  }
}

/** Returns the name of the schema to which a reference refers; undefined for a schema that is not a reference. */
function nameOf({ $ref }: Schema): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

function fits(value: unknown, schema: Schema): boolean {
  const { type, format } = schema;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && !('properties' in schema);
  return typeof value === type && format === undefined;
}

function textOf({ format }: Schema, name: string): string {
  if (format === 'uuid') return ID;
  if (format === 'date-time') return INSTANT;
  if (format === 'date') return INSTANT.slice(0, 10);
  if (/url$/i.test(name)) return 'https://example.com/acme';
  return /id$/i.test(name) ? '40000001' : 'acme';
}

/**
 * Returns the name of an element of a list: `term` for `matchedTerms`. So the elements get the example value of that
 * name.
 */
function singular(name: string): string {
  return /terms$/i.test(name) ? 'term' : name.replace(/s$/, '');
}

function listOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? (value as Schema[]) : [];
}
