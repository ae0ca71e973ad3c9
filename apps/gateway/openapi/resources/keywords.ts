import { CHANNEL_KINDS, SOURCE_IDS, SUBJECT_ROLES } from '#contracts';
import { MUTE_MATCHES, MUTE_TARGETS } from '#matching';
import { WEBHOOK_EVENTS } from '../../api/keywords/keyword-body.dto.js';
import type { Route } from '../operation.js';
import { inPath, inQuery, paging, repeated, since, UNTIL } from '../parameters.js';
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
  pageOf,
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
    '`own` and `competitor`: sentiment is the stance toward the subject. `topic`: it is the mood of the text',
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
    source: described('Null for an event of the keyword itself, and its deliveries', nullable(SOURCE)),
    type: described(
      'An event of the keyword itself (`keyword.paused`, …) has its own line, whether it is sent or not',
      oneOf(['poll.completed', 'poll.failed', 'webhook.delivered', 'webhook.failed', ...WEBHOOK_EVENTS]),
    ),
    occurredAt: INSTANT,
    watchId: nullable(ID),
  },
  {
    eventsEmitted: described('Only for a check', INTEGER),
    creditsCharged: described('Only for a check', INTEGER),
    eventId: described('Only for a webhook, and an event of the keyword itself: the event', ID),
    statusCode: described('Only for a webhook: HTTP status of the receiver', INTEGER),
    message: described('Reason of the failure, or what happened to the keyword', TEXT),
    channelId: described('Only for a message to a channel', ID),
    channelKind: described('Only for a message to a channel', oneOf(CHANNEL_KINDS)),
  },
);

const modelWarnings = described(
  'Present if the keyword has an agent step or the preset `custom`, and the installation has no language model (`LLM_URL`) any more',
  listOf(ref('Fault')),
);

export const keywordSchemas: Readonly<Record<string, Schema>> = {
  Feed: object({ atomUrl: TEXT, jsonUrl: TEXT }),
  Keyword: object(keyword, { warnings: modelWarnings }),
  CreatedKeyword: object({
    ...keyword,
    warnings: described('Parts of the body that are stored but have no effect', listOf(ref('Fault'))),
  }),
  ChangedKeyword: object(
    { ...keyword, resetSearches: listOf(ref('ResetSearch')) },
    { warnings: modelWarnings },
  ),
  KeywordWatch: object({
    id: ID,
    source: SOURCE,
    searchId: nullable(ID),
    criteriaHash: TEXT,
    refreshIntervalSeconds: INTEGER,
    isActive: BOOLEAN,
    pausedReason,
    lastCheckedAt: nullable(INSTANT),
    lastStatus: nullable(TEXT),
  }),
  ResetSearch: described(
    'A search that started again because its criteria changed',
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

const EXAMPLE = {
  name: 'Acme',
  refresh_interval_seconds: 3600,
  global_criteria: { market: 'global', query: 'acme' },
  sources: [
    { source: 'hackernews', enabled: true },
    {
      source: 'rss',
      enabled: true,
      searches: [{ overrides: { filters: { feed_urls: ['https://example.com/news.xml'] } } }],
    },
  ],
  mute_rules: ['giveaway'],
  webhook_url: 'https://example.com/hooks/earshot',
};
const EXAMPLE_IN_CAMEL_CASE = {
  name: 'Acme',
  refreshIntervalSeconds: 3600,
  globalCriteria: { market: 'global', query: 'acme' },
  sources: [{ source: 'hackernews', enabled: true }],
};

const id = inPath('id', 'Id of the keyword');
const CHANGED = {
  ...inQuery('keyword', 'Id of the keyword that the body would change. Without it: a new keyword', ID),
  example: '0192f3c4-7d1e-7b3a-9c55-0a4f6f2d9b10',
};
const TOKEN = { $ref: '#/components/parameters/EstimateToken' };

type Unnamed = Omit<Route, 'path' | 'tag' | 'operationId'>;

/** A keyword has two names. Every route exists under both. */
function underBothNames(name: string, sub: string, route: Unnamed, query: Partial<Unnamed> = {}): Route[] {
  return [
    { ...route, tag: 'Keywords', path: `/v1/keywords${sub}`, operationId: `${name}Keyword` },
    { ...route, ...query, tag: 'Keywords', path: `/v1/queries${sub}`, operationId: `${name}Query` },
  ];
}

export const keywordRoutes: readonly Route[] = [
  ...underBothNames(
    'create',
    '',
    {
      method: 'post',
      summary: 'Create a keyword',
      description:
        'Its searches begin at once. The first check of each search is the baseline: it reports nothing, or, with `backfill: true`, keeps what it finds. With `Service-Estimate-Token` the create is refused if the body or the price differs from the estimate. Costs nothing itself; each check costs credits, as the estimate states.',
      parameters: [TOKEN],
      body: ref('KeywordBody'),
      example: EXAMPLE,
      status: 201,
      answer: ref('CreatedKeyword'),
    },
    { body: ref('QueryBody'), example: EXAMPLE_IN_CAMEL_CASE },
  ),
  ...underBothNames('list', '', {
    method: 'get',
    summary: 'List keywords, newest first',
    description: 'Retired keywords are included, purged ones are not. Free.',
    parameters: [
      repeated('state', 'Only keywords in this state.', oneOf(['active', 'paused', 'retired'])),
      repeated('source', 'Only keywords with this source, enabled or not.', oneOf(SOURCE_IDS)),
      inQuery('q', 'Only keywords whose name contains this text'),
      ...paging(),
    ],
    answer: pageOf('data', ref('Keyword')),
  }),
  ...underBothNames(
    'estimate',
    '/estimate',
    {
      method: 'post',
      summary: 'Estimate the cost of a keyword',
      description:
        'Free; stores nothing. If the create would refuse the body, the response is 200 with `valid: false`. With `keyword`, it estimates a change of that keyword: the body is then the body of the PATCH, `refusal` is the refusal of the PATCH, and the keyword itself does not count in `searchSlots.inUse`.',
      parameters: [CHANGED],
      body: { anyOf: [ref('KeywordBody'), ref('KeywordChange')] },
      example: EXAMPLE,
      answer: ref('KeywordEstimate'),
      refusals: [404],
    },
    { body: { anyOf: [ref('QueryBody'), ref('KeywordChange')] }, example: EXAMPLE_IN_CAMEL_CASE },
  ),
  ...underBothNames('get', '/{id}', {
    method: 'get',
    summary: 'Get a keyword',
    description:
      'Every key of the create body with its present value, and read-only keys such as `state`, `monthlyCredits` and `watches`. Can be changed and sent back with PATCH. Free.',
    parameters: [id],
    answer: ref('Keyword'),
  }),
  ...underBothNames('change', '/{id}', {
    method: 'patch',
    summary: 'Change a keyword',
    description:
      'A search whose criteria change starts again; its first check reports nothing. Existing mentions stay.',
    parameters: [id],
    body: ref('KeywordChange'),
    example: { name: 'Acme and its cookies', schedule: null },
    answer: ref('ChangedKeyword'),
    refusals: [402],
  }),
  ...underBothNames('delete', '/{id}', {
    method: 'delete',
    summary: 'Retire or purge a keyword',
    description:
      'Without `purge`, checks stop and the keyword, its mentions and events stay readable and can be replayed. With `purge=true`, they are deleted from every store and cannot be restored. Free.',
    parameters: [
      id,
      inQuery('purge', 'Delete the keyword and its events permanently', { type: 'boolean', default: false }),
    ],
    status: 204,
  }),
  ...underBothNames('pause', '/{id}/pause', {
    method: 'post',
    summary: 'Pause a keyword',
    description: 'No checks and no costs until it is resumed. A paused keyword does not change. Free.',
    parameters: [id],
    answer: ref('Keyword'),
  }),
  ...underBothNames('resume', '/{id}/resume', {
    method: 'post',
    summary: 'Resume a keyword',
    description:
      'Checks begin again at once. Items that were published during the pause can be reported by the first check. A running keyword does not change. Free.',
    parameters: [id],
    answer: ref('Keyword'),
  }),
  ...underBothNames('quote', '/{id}/quote', {
    method: 'get',
    summary: 'Compare the quoted and the charged credits of a keyword',
    description: 'Grouped by source and UTC day. Free.',
    parameters: [id, since('30 days before `until`'), UNTIL],
    answer: ref('Quote'),
  }),
  ...underBothNames('feedOf', '/{id}/feed', {
    method: 'get',
    summary: 'Get the addresses of the feeds of a keyword',
    description:
      'Atom and JSON Feed 1.1 with the newest 50 mentions, without dropped and hidden ones. Everybody who has an address can read it.',
    parameters: [id],
    answer: ref('Feed'),
  }),
  ...underBothNames('rotateFeedOf', '/{id}/feed/rotate', {
    method: 'post',
    summary: 'Replace the addresses of the feeds of a keyword',
    description: 'The former addresses return 404 at once.',
    parameters: [id],
    answer: ref('Feed'),
  }),
  ...underBothNames('activityOf', '/{id}/activity', {
    method: 'get',
    summary: 'List the checks and deliveries of a keyword, newest first',
    description:
      'Each check with the number of new events, its credits and the reason of a failure; each attempt to deliver an event. Free.',
    parameters: [
      id,
      since('7 days ago'),
      inQuery('source', 'Only this source', oneOf(SOURCE_IDS)),
      ...paging(500, 100),
    ],
    answer: pageOf('activity', ref('Activity')),
  }),
];
