import type { Route } from '../operation.js';
import { inPath, inQuery, paging, since } from '../parameters.js';
import {
  BOOLEAN,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  mapOf,
  nullable,
  object,
  oneOf,
  pageOf,
  ref,
  TEXT,
  described,
  type Schema,
} from '../schema.js';

const REPLAY_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'];
const DELIVERY_STATES = ['delivered', 'retrying', 'given_up'];
const TARGET_KINDS = ['webhook', 'resend', 'replay', 'channel', 'digest', 'verification'];
const target = object({
  kind: oneOf(TARGET_KINDS),
  id: ID,
});

export const deliverySchemas: Readonly<Record<string, Schema>> = {
  Replay: object({
    id: ID,
    status: described(
      '`failed` means that the endpoint is disabled, or does not exist any more',
      oneOf(REPLAY_STATES),
    ),
    since: INSTANT,
    until: INSTANT,
    keywordId: nullable(ID),
    watchId: nullable(ID),
    url: described('Null if the keyword was purged', nullable(TEXT)),
    types: described(
      'Types of the events to send. Empty: all types about items, and the types in the keyword’s `webhookEvents`',
      listOf(TEXT),
    ),
    ratePerSecond: INTEGER,
    matched: described('Number of events in the window; 0 while the replay is queued', INTEGER),
    sent: described('Number of events that the receiver accepted', INTEGER),
    failed: described('Number of events that were given up', INTEGER),
    missing: described('Number of events that are in the index but not in the stream any more', INTEGER),
    message: described('Reason of the status, and how many events are missing', nullable(TEXT)),
    createdAt: INSTANT,
    finishedAt: nullable(INSTANT),
  }),
  Attempt: object({
    number: described('Starts at 1. 0 means that nothing was sent; `message` states the reason', INTEGER),
    at: INSTANT,
    delivered: BOOLEAN,
    statusCode: described(
      'HTTP status; for a mail, the reply code of the mail server. Null if no response arrived',
      nullable(INTEGER),
    ),
    durationMs: INTEGER,
    message: described('Reason of the failure', nullable(TEXT)),
  }),
  Delivery: object({
    eventId: ID,
    keywordId: nullable(ID),
    watchId: described('Null for an event of the keyword itself', nullable(ID)),
    endpoint: described('Address without its query, or `channel:<id>`', TEXT),
    target: described('The target. An event has one delivery for each target', target),
    state: described(
      '`retrying`: another attempt is planned. `given_up`: no attempt is planned, and none has succeeded',
      oneOf(DELIVERY_STATES),
    ),
    nextAttemptAt: nullable(INSTANT),
    attempts: described('Oldest first', listOf(ref('Attempt'))),
  }),
  Resending: object({ eventId: ID, endpoint: TEXT, target }),
  Endpoint: object({
    url: TEXT,
    state: oneOf(['healthy', 'failing', 'disabled']),
    failingSince: described('Beginning of the time in which every attempt has failed', nullable(INSTANT)),
    failures: described('Number of failed attempts since `failingSince`', INTEGER),
    lastStatusCode: described(
      'Status of the last failure; null if there was none, or if no response arrived',
      nullable(INTEGER),
    ),
    disabledAt: nullable(INSTANT),
    disabledReason: nullable(TEXT),
    waiting: described('Number of deliveries that wait for an attempt, the first or a later one', INTEGER),
    keywordIds: listOf(ID),
    watchIds: described('Watches without a keyword', listOf(ID)),
  }),
  WebhookTest: object({
    delivered: described('True if the receiver returned 2xx', BOOLEAN),
    statusCode: described('HTTP status; null if no response arrived', nullable(INTEGER)),
    durationMs: INTEGER,
    message: TEXT,
    requestHeaders: mapOf(TEXT),
    requestBody: TEXT,
  }),
};

const inId = inPath('id', 'Id of the replay');
const keyword = inQuery('keyword', 'Only for this keyword', ID);
const watch = inQuery('watch', 'Only for this watch', ID);

export const deliveryRoutes: readonly Route[] = [
  {
    tag: 'Replays',
    method: 'post',
    path: '/v1/replays',
    operationId: 'createReplay',
    summary: 'Send stored events again',
    description:
      'Sends the same bytes and ids with a new signature, and the header `X-Replay` with the id of the replay. Events are sent one after the other, in order of `occurredAt`. A failed event is retried like any delivery. Each event is sent at least once. Returns 409 if the account has 5 replays that have not ended.',
    body: ref('ReplayBody'),
    example: { keyword_id: '0190a0b0-0000-7000-8000-0000000000b1', since: '2026-03-01' },
    status: 202,
    answer: ref('Replay'),
    refusals: [404],
  },
  {
    tag: 'Replays',
    method: 'get',
    path: '/v1/replays',
    operationId: 'listReplays',
    summary: 'List replays, newest first',
    description: 'Replays of the last 90 days with their progress. Free.',
    parameters: [
      inQuery('status', 'Only replays in this state', oneOf(REPLAY_STATES)),
      keyword,
      watch,
      ...paging(),
    ],
    answer: pageOf('data', ref('Replay')),
  },
  {
    tag: 'Replays',
    method: 'get',
    path: '/v1/replays/{id}',
    operationId: 'getReplay',
    summary: 'Get a replay, with its progress',
    description:
      '`matched` is the number of events in the window; the sum of `sent`, `failed` and `missing` increases up to this number. Free.',
    parameters: [inId],
    answer: ref('Replay'),
  },
  {
    tag: 'Replays',
    method: 'delete',
    path: '/v1/replays/{id}',
    operationId: 'cancelReplay',
    summary: 'Cancel a replay. A replay that has ended does not change',
    description: 'Events that were already sent are not recalled. Free.',
    parameters: [inId],
    status: 204,
  },
  {
    tag: 'Webhooks',
    method: 'get',
    path: '/v1/deliveries',
    operationId: 'listDeliveries',
    summary: 'List deliveries that have had an attempt, newest first',
    description:
      'A delivery sends one event to one target. It is listed with all its attempts. The time of its first attempt determines the order, and is compared with `since`. Free.',
    parameters: [
      keyword,
      watch,
      inQuery(
        'endpoint',
        'Only deliveries to this address (the query of the address is ignored), or to a channel: `channel:<id>`',
      ),
      inQuery(
        'target',
        `Only deliveries to this kind of target (${TARGET_KINDS.map((kind) => `\`${kind}\``).join(', ')}), or all deliveries to the channel with this id`,
      ),
      inQuery('state', 'Only deliveries in this state', oneOf(DELIVERY_STATES)),
      since('7 days ago'),
      ...paging(),
    ],
    answer: pageOf('data', ref('Delivery')),
  },
  {
    tag: 'Webhooks',
    method: 'post',
    path: '/v1/deliveries/{eventId}/resend',
    operationId: 'resendEvent',
    summary: 'Send one event again, to the present webhook or to the address in the body',
    description: 'Returns 429 if 200 resends of the account are waiting. Use a replay to send many events.',
    parameters: [inPath('eventId', 'Id of the event')],
    body: ref('ResendBody'),
    example: {},
    status: 202,
    answer: ref('Resending'),
  },
  {
    tag: 'Webhooks',
    method: 'get',
    path: '/v1/endpoints',
    operationId: 'listEndpoints',
    summary:
      'List the webhook addresses of keywords and watches, and other addresses that fail or are disabled',
    description:
      'Each endpoint shows the time since which every attempt has failed. An address that fails for 5 days, or answers 410, is disabled. Free.',
    parameters: paging(),
    answer: pageOf('data', ref('Endpoint')),
  },
  {
    tag: 'Webhooks',
    method: 'post',
    path: '/v1/endpoints/enable',
    operationId: 'enableEndpoint',
    summary: 'Enable a disabled address',
    description:
      'Earshot sends new events to the address again. Use a replay to send the events that were given up while the address was disabled.',
    body: ref('EnableBody'),
    example: { url: 'https://example.com/hooks/earshot' },
    answer: ref('Endpoint'),
    refusals: [404],
  },
  {
    tag: 'Webhooks',
    method: 'post',
    path: '/v1/webhooks/test',
    operationId: 'testWebhook',
    summary: 'Send a signed test event, and return the response of the receiver',
    description: 'Returns 429 after 20 tests of webhooks and channels of the account in a minute. Free.',
    body: ref('WebhookTestBody'),
    example: { url: 'https://example.com/hooks/earshot' },
    answer: ref('WebhookTest'),
  },
];
