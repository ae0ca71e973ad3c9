import { MATCH_MODES } from '#contracts';
import {
  BOOLEAN,
  FREE_FORM,
  ID,
  listOf,
  mapOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  ref,
  TEXT,
  textOf,
  told,
  type Schema,
} from '../schema.js';

export const INTERVAL: Schema = { type: 'integer', minimum: 1, maximum: 31_536_000 };
export const SOURCE = ref('Source');

const market: Schema = { type: 'string', minLength: 1 };

/** All but the market. */
const fields: Readonly<Record<string, Schema>> = {
  query: { type: 'string', maxLength: 512 },
  priceMin: NUMBER,
  priceMax: NUMBER,
  sort: TEXT,
  page: NUMBER,
  perPage: NUMBER,
  filters: told(
    'Keys that one source reads, in its own words; kept as they are sent. At most 16 KiB.',
    FREE_FORM,
  ),
  match: told('How a term must stand in the text', oneOf(MATCH_MODES)),
  terms: told(
    'Alternatives, in one search; a `query` beside them has to match as well',
    listOf(textOf(1, 60), 2, 50),
  ),
  repliesTo: textOf(1, 16),
};

const agentField = {
  type: 'object',
  properties: {
    type: oneOf(['string', 'number', 'boolean', 'enum']),
    description: { type: 'string', maxLength: 200 },
    values: told('Of an `enum` at least one', listOf(TEXT, 0, 12)),
    maxLength: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  },
  required: ['type'],
  additionalProperties: false,
};

export const criteriaSchemas: Readonly<Record<string, Schema>> = {
  Criteria: object({}, { market, ...fields }),
  GlobalCriteria: object({ market }, fields),
  Search: object(
    {},
    {
      id: ID,
      label: nullable({ type: 'string', maxLength: 80 }),
      overridesEnabled: BOOLEAN,
      overrides: told('Laid on top of the global criteria, key by key', ref('Criteria')),
    },
  ),
  SourceEntry: object(
    { source: SOURCE, enabled: BOOLEAN },
    { searches: listOf(ref('Search'), 0, 100), refreshIntervalSeconds: nullable(INTERVAL) },
  ),
  AgentStep: object({
    instruction: textOf(1, 800),
    schema: { ...mapOf(agentField), minProperties: 1, maxProperties: 12 },
  }),
};
