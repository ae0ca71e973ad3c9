import { CHANNEL_KINDS, SUBJECT_ROLES } from '#contracts';
import { MUTE_MATCHES, MUTE_TARGETS } from '#matching';
import { WEBHOOK_EVENTS } from '../../api/keywords/keyword-body.dto.js';
import {
  BOOLEAN,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  ref,
  TEXT,
  described,
  type Schema,
  SOURCE,
} from '../schema.js';

const pausedReason = nullable(oneOf(['user', 'insufficient_credits', 'schedule', 'plan']));

/** Every key of the create body with its effective value, and the read-only keys. */
const keyword: Readonly<Record<string, Schema>> = {
  id: ID,
  name: TEXT,
  refreshIntervalSeconds: INTEGER,
  globalCriteria: ref('GlobalCriteria'),
  sources: listOf(
    object({
      source: SOURCE,
      enabled: BOOLEAN,
      refreshIntervalSeconds: nullable(INTEGER),
      searches: listOf(
        object({ id: ID, label: nullable(TEXT), overridesEnabled: BOOLEAN, overrides: ref('Criteria') }),
      ),
    }),
  ),
  webhookUrl: nullable(TEXT),
  aiEnabled: BOOLEAN,
  aiPreset: nullable(TEXT),
  aiPrompt: nullable(TEXT),
  aiStep: nullable(ref('AgentStep')),
  sentimentEnabled: BOOLEAN,
  coBrandsEnabled: BOOLEAN,
  subjectRole: described(
    '`own` and `competitor`: sentiment is the stance toward the subject. `topic`: sentiment is the mood of the text',
    oneOf(SUBJECT_ROLES),
  ),
  muteRules: listOf(
    object({
      value: TEXT,
      target: oneOf(MUTE_TARGETS),
      source: nullable(SOURCE),
      match: oneOf(MUTE_MATCHES),
    }),
  ),
  vipAuthors: listOf(object({ handle: TEXT, source: nullable(SOURCE), note: nullable(TEXT) })),
  rules: listOf(
    object({
      id: ID,
      name: TEXT,
      enabled: BOOLEAN,
      source: nullable(SOURCE),
      when: ref('Condition'),
      then: listOf(ref('Action')),
    }),
  ),
  webhookMode: oneOf(['all', 'rules']),
  webhookEvents: listOf(oneOf(WEBHOOK_EVENTS)),
  channels: listOf(ref('KeywordChannel')),
  spikeAlert: nullable(oneOf(['low', 'medium', 'high'])),
  backfill: BOOLEAN,
  schedule: nullable(ref('Schedule')),
  minRelevance: nullable(INTEGER),
  languages: nullable(listOf(TEXT)),
  state: oneOf(['active', 'paused', 'retired']),
  pausedReason,
  createdAt: INSTANT,
  updatedAt: INSTANT,
  version: described('Increases with each change', INTEGER),
  monthlyCredits: described('Cost of its checks in 30 days with the present price book', NUMBER),
  watches: listOf(ref('KeywordWatch')),
};

const activity = object(
  {
    id: ID,
    source: described(
      'Null for an event of the keyword itself, for a delivery of such an event or of a digest, and for a disabled endpoint or channel',
      nullable(SOURCE),
    ),
    type: described(
      'An event of the keyword itself (`keyword.paused`, …) is listed even if it is not sent',
      oneOf(['poll.completed', 'poll.failed', 'webhook.delivered', 'webhook.failed', ...WEBHOOK_EVENTS]),
    ),
    occurredAt: INSTANT,
    watchId: nullable(ID),
  },
  {
    eventsEmitted: described('Only for a check', INTEGER),
    creditsCharged: described(
      'Only for a check: its price. The ledger contains the credits that were taken',
      INTEGER,
    ),
    eventId: described('Only for a delivery and for an event of the keyword itself: the id of the event', ID),
    statusCode: described(
      'Only for a webhook or a message to a channel: HTTP status, or reply code of the mail server',
      INTEGER,
    ),
    message: described('Reason of the failure, or what happened to the keyword', TEXT),
    channelId: described('Only for a message to a channel and for a disabled channel', ID),
    channelKind: described('Present if `channelId` is present', oneOf(CHANNEL_KINDS)),
  },
);

const lostParts = described(
  'The parts of the keyword that no longer work in this installation. The key is present in two cases. First: the keyword has an agent step or the preset `custom`, and the installation has no language model (`LLM_URL`) any more. Second: an enabled source is not polled, because it was turned off or has lost a setting; a retired keyword does not list these sources',
  listOf(ref('Fault')),
);

/** The warnings of a created keyword, and of an estimate. */
export const WARNINGS =
  'Parts of the body that have no effect, or less effect than the body says. Also another keyword with exactly the same searches: while both keywords run, each mention is reported and charged twice';

export const keywordSchemas: Readonly<Record<string, Schema>> = {
  Feed: object({ atomUrl: TEXT, jsonUrl: TEXT }),
  Keyword: object(keyword, { warnings: lostParts }),
  CreatedKeyword: object({
    ...keyword,
    warnings: described(WARNINGS, listOf(ref('Fault'))),
  }),
  ChangedKeyword: object({ ...keyword, resetSearches: listOf(ref('ResetSearch')) }, { warnings: lostParts }),
  KeywordWatch: object({
    id: ID,
    source: SOURCE,
    searchId: nullable(ID),
    criteriaHash: TEXT,
    refreshIntervalSeconds: INTEGER,
    isActive: BOOLEAN,
    pausedReason,
    lastCheckedAt: nullable(INSTANT),
    lastStatus: described('`completed` or `failed`; null before the first check', nullable(TEXT)),
  }),
  ResetSearch: described(
    'A search that started over because its criteria changed',
    object({
      source: SOURCE,
      searchId: nullable(ID),
      label: nullable(TEXT),
      previousWatchId: ID,
      watchId: ID,
    }),
  ),
  Activity: activity,
};
