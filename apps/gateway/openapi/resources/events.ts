import {
  BODY_KEY_OF,
  BODY_KEYS,
  CHANNEL_KINDS,
  EVENT_TYPES,
  EVENT_TYPES_OF,
  KEYWORD_EVENT_TYPES,
  SOURCE_IDS,
  type SourceId,
} from '#contracts';
import {
  described,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  NULL,
  nullable,
  NUMBER,
  object,
  oneOf,
  ref,
  TEXT,
  type Schema,
} from '../schema.js';
import { eventBody } from './event-bodies.js';

type KeywordEventType = (typeof KEYWORD_EVENT_TYPES)[number];

const window = object({ from: INSTANT, to: INSTANT });
const pausing = object({ reason: TEXT, creditsRemaining: INTEGER });

const DATA: Readonly<Record<KeywordEventType, Schema>> = {
  'keyword.alert_fired': object({
    rule: {
      anyOf: [
        object({ id: ID, name: TEXT, kind: oneOf(['volume', 'sentiment_shift']) }),
        object({ spike: oneOf(['low', 'medium', 'high']) }),
      ],
    },
    window,
    observed: described(
      'Number of mentions in the window; for `sentiment_shift`, of negative mentions',
      INTEGER,
    ),
    baseline: described('Expected number; 0 without history', NUMBER),
    multiple: described('Null if the baseline is 0', nullable(NUMBER)),
    sampleMentionIds: listOf(ID, 0, 5),
    suppressedUntil: described('The rule does not fire again before this time', INSTANT),
  }),
  'keyword.report_ready': object({
    reportId: ID,
    period: described('`to` is exclusive', window),
    url: described(
      'Page of the report. Everybody who has the address can read it. If the setting PUBLIC_URL is missing, this is only the path of the page',
      TEXT,
    ),
  }),
  'keyword.paused': pausing,
  'keyword.resumed': pausing,
  'channel.disabled': object(
    {
      channelId: described('Null for the webhook address of a keyword', nullable(ID)),
      kind: oneOf(CHANNEL_KINDS),
      reason: TEXT,
      failures: INTEGER,
      lastStatusCode: nullable(INTEGER),
    },
    { url: described('Only for the webhook address of a keyword', TEXT) },
  ),
};

/** Returns `HnItemCreatedEvent` for `hn_item.created`. */
function nameOf(type: string): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

/** Returns `HackernewsItem` for `hackernews`. */
function bodyNameOf(source: SourceId): string {
  return `${source
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Item`;
}

/**
 * Returns the schema of the envelope of a type. The schema has all keys; the keys that the type does not use are null.
 */
function envelope(type: string, own: Readonly<Record<string, Schema>>, isOfWatch: boolean): Schema {
  return object(
    {
      id: described('The same in each delivery and replay of the event', ID),
      type: { type: 'string', const: type },
      watchId: isOfWatch ? nullable(ID) : NULL,
      keywordId: described('Null for a watch without a keyword', nullable(ID)),
      ...Object.fromEntries(BODY_KEYS.map((key) => [key, NULL])),
      previousPrice: type === 'listing.price_changed' ? nullable(NUMBER) : NULL,
      occurredAt: described(
        isOfWatch ? 'Time at which Earshot found the item' : 'Time of the event',
        INSTANT,
      ),
      ai: described('Answer of the agent step', nullable(ref('AgentAnswer'))),
      ...own,
    },
    isOfWatch ? { analysis: described('Absent if the item was not classified', ref('EventAnalysis')) } : {},
  );
}

const itemEvents = SOURCE_IDS.flatMap((source) =>
  EVENT_TYPES_OF[source].map((type) => [
    nameOf(type),
    envelope(type, { [BODY_KEY_OF[source]]: ref(bodyNameOf(source)) }, true),
  ]),
);
const keywordEvents = KEYWORD_EVENT_TYPES.map((type) => [
  nameOf(type),
  envelope(type, { data: DATA[type] }, false),
]);

/** The schema of each event type and of each source's object, and `Envelope`, which accepts an event of any type. */
export const eventSchemas: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(SOURCE_IDS.map((source) => [bodyNameOf(source), eventBody(source)])),
  ...Object.fromEntries([...itemEvents, ...keywordEvents]),
  Envelope: {
    description:
      'An event as it is delivered and replayed, byte for byte. `type` determines which key contains the item; the keys of other types are null.',
    oneOf: EVENT_TYPES.map((type) => ref(nameOf(type))),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(EVENT_TYPES.map((type) => [type, `#/components/schemas/${nameOf(type)}`])),
    },
  },
};

function header(name: string, description: string, example: string, required = true): Schema {
  return { name, in: 'header', required, description, schema: TEXT, example };
}

const SIGNATURE_HEADERS = [
  header(
    'X-Signature',
    '`t=<unix seconds>,v1=<hex>`: `v1` is the HMAC-SHA256 of `<t>.<body>` with the signing secret of the account. During the 24 hours after a rotation of the secret there are two `v1` parts. Compare in constant time, and refuse a `t` that differs from the present time by more than 300 seconds. With `signatureVersion: legacy`, the value is only the hex HMAC-SHA256 of the body.',
    't=1772366400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  ),
  header(
    'webhook-id',
    'Id of the event, for [Standard Webhooks](https://www.standardwebhooks.com)',
    '0190a0b0-0000-7000-8000-0000000000e1',
  ),
  header('webhook-timestamp', 'Unix seconds, for Standard Webhooks', '1772366400'),
  header(
    'webhook-signature',
    '`v1,<base64>`, for Standard Webhooks: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`. The key is the decoded base64 after `whsec_`. For 24 hours after a rotation, there are two signatures, separated by a space',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header('X-Replay', 'Id of the replay; only in a replay', '0190a0b0-0000-7000-8000-0000000000f1', false),
];

/** Returns the `webhooks` of the document: what Earshot sends to the addresses of keywords and watches. */
export function webhooks(example: unknown): Schema {
  return {
    event: {
      post: {
        operationId: 'receiveEvent',
        summary: 'Receive an event',
        description:
          'Earshot posts events to the webhook of their keyword or watch. Answer 2xx within 10 seconds. After any other answer except 410, or without an answer, Earshot sends the event again after 30 s, 2 min, 10 min, 1 h, 4 h, 12 h and 24 h: seven times, in 41 hours. An answer with 410 disables the address immediately. An event can arrive more than once: compare its `id`. Redirects are not followed.',
        tags: ['Webhooks'],
        security: [],
        parameters: SIGNATURE_HEADERS,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: ref('Envelope'), example } },
        },
        responses: {
          '2XX': { description: 'The event was received' },
          '410': { description: 'The receiver does not exist any more. Earshot disables the address' },
          default: { description: 'The event was not received, and is sent again' },
        },
      },
    },
  };
}
