import { MUTE_MATCHES, MUTE_TARGETS } from '#matching';
import { WEBHOOK_EVENTS } from '../../api/keywords/keyword-body.dto.js';
import { OPERATORS } from '../../api/keywords/rule-fields.js';
import { LABELS } from '../../reads/mention-filter.js';
import {
  BOOLEAN,
  ID,
  listOf,
  NULL,
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
import { INTERVAL, SOURCE } from './criteria.js';

const mute = object(
  { value: textOf(1, 60) },
  { target: oneOf(MUTE_TARGETS), source: nullable(SOURCE), match: oneOf(MUTE_MATCHES) },
);
const vip = object(
  { handle: textOf(1, 60) },
  { source: nullable(SOURCE), note: nullable({ type: 'string', maxLength: 120 }) },
);
const window = {
  window: oneOf(['1h', '24h']),
  min: { type: 'integer', minimum: 1 },
  multiple: { type: 'number', minimum: 1 },
};
const clause = object(
  { field: { type: 'string', minLength: 1 }, op: oneOf(OPERATORS) },
  {
    value: {
      anyOf: [TEXT, NUMBER, BOOLEAN, listOf(TEXT), object({ text: TEXT }, { threshold: NUMBER })],
    },
  },
);

/** The keys that a create needs. */
const required: Readonly<Record<string, Schema>> = {
  name: textOf(1, 80),
  refreshIntervalSeconds: told('Between checks; not below the plan’s floor of each source', INTERVAL),
  globalCriteria: ref('GlobalCriteria'),
  sources: listOf(ref('SourceEntry'), 1, 50),
};

const optional: Readonly<Record<string, Schema>> = {
  webhookUrl: told(
    'Where its events are pushed to; empty or null: nowhere',
    nullable({ type: 'string', maxLength: 2048 }),
  ),
  aiEnabled: BOOLEAN,
  aiPreset: nullable(oneOf(['product-model', 'theme-sentiment', 'seller', 'duplicates', 'custom'])),
  aiPrompt: nullable({ type: 'string', maxLength: 400 }),
  aiStep: nullable(ref('AgentStep')),
  sentimentEnabled: BOOLEAN,
  coBrandsEnabled: BOOLEAN,
  subjectRole: oneOf(['own', 'competitor', 'topic']),
  muteRules: listOf(told('A text is a mute of its value', { anyOf: [textOf(1, 60), ref('Mute')] }), 0, 50),
  vipAuthors: listOf(told('A text is a VIP of that handle', { anyOf: [textOf(1, 60), ref('Vip')] }), 0, 100),
  rules: listOf(ref('Rule'), 0, 20),
  webhookMode: oneOf(['all', 'rules']),
  webhookEvents: listOf(oneOf(WEBHOOK_EVENTS), 0, 5),
  channels: listOf(ref('KeywordChannel'), 0, 5),
  spikeAlert: nullable(oneOf(['low', 'medium', 'high'])),
  backfill: told('Keep what the first check finds, and charge it', BOOLEAN),
  schedule: nullable(ref('Schedule')),
};

/** Keys of the read-only part, which a keyword that is sent back may carry. */
const readOnly = [
  'id',
  'state',
  'pausedReason',
  'createdAt',
  'updatedAt',
  'version',
  'monthlyCredits',
  'watches',
  'resetSearches',
  'warnings',
];
const passedOver = Object.fromEntries(readOnly.map((key) => [key, told('Passed over', {})]));

export const keywordBodySchemas: Readonly<Record<string, Schema>> = {
  KeywordBody: told(
    'In snake_case it is `KeywordBodyInSnakeCase`; the two may be mixed, but no key may stand in both.',
    object(required, optional),
  ),
  QueryBody: told(
    'camelCase alone. The read-only keys of a keyword that was read are passed over.',
    object(required, { ...optional, ...passedOver }),
  ),
  KeywordChange: told(
    'An absent key stays as it is, null clears it. The read-only keys of a keyword that was read are passed over.',
    object(
      {},
      {
        ...required,
        ...Object.fromEntries(Object.entries(optional).map(([key, schema]) => [key, cleared(schema)])),
        ...passedOver,
      },
    ),
  ),
  Mute: mute,
  Vip: vip,
  KeywordChannel: object({
    channelId: ID,
    mode: oneOf(['instant', 'hourly', 'daily', 'daily_brief', 'weekly_report']),
  }),
  Schedule: object({
    startsAt: nullable(TEXT),
    endsAt: nullable(TEXT),
    timezone: told('IANA; times without an offset are read in it', textOf(1, 64)),
  }),
  Condition: {
    oneOf: [
      object({ kind: { const: 'item' }, all: listOf(clause, 1, 8) }),
      object({ kind: oneOf(['volume', 'sentiment_shift']), ...window }),
    ],
  },
  Action: object(
    { type: oneOf(['notify', 'webhook', 'mark', 'stop']) },
    { channelIds: listOf(ID, 0, 5), label: oneOf(LABELS) },
  ),
  Rule: object(
    { name: textOf(1, 60), when: ref('Condition'), then: listOf(ref('Action'), 1, 4) },
    { id: ID, enabled: BOOLEAN, source: nullable(SOURCE) },
  ),
};

function cleared(schema: Schema): Schema {
  return 'anyOf' in schema ? schema : { anyOf: [schema, NULL] };
}
