import { MATCH_MODES, SOURCE_IDS } from '#contracts';
import { INTENTS, LABELS, SENTIMENTS } from '../../reads/mention-filter.js';
import type { Route } from '../operation.js';
import { inPath, inQuery, paging, repeated, since, SOURCE_IN_PATH, UNTIL } from '../parameters.js';
import {
  BOOLEAN,
  FREE_FORM,
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
  told,
  type Schema,
  SOURCE,
} from '../schema.js';

const count = nullable(INTEGER);
const analysis = object(
  {},
  {
    sentiment: nullable(oneOf(SENTIMENTS)),
    sentimentScore: nullable({ type: 'number', minimum: -1, maximum: 1 }),
    intent: nullable(oneOf(INTENTS)),
    relevance: nullable(NUMBER),
    reason: nullable(TEXT),
  },
);
const dropped = nullable(object({ reason: TEXT, rule: TEXT }));
const itemObject = nullable(ref('ItemObject'));

export const mentionSchemas: Readonly<Record<string, Schema>> = {
  Analysis: analysis,
  Mention: object(
    {
      id: ID,
      keywordId: nullable(ID),
      watchId: ID,
      searchId: nullable(ID),
      source: SOURCE,
      type: told('The type of its event', TEXT),
      kind: told('`post`, `comment`, `video`, …', TEXT),
      url: TEXT,
      title: nullable(TEXT),
      text: TEXT,
      excerpt: told('The text around the first match', TEXT),
      author: told('The handle, as the source writes it', nullable(TEXT)),
      authorName: nullable(TEXT),
      authorUrl: nullable(TEXT),
      vip: BOOLEAN,
      community: nullable(TEXT),
      lang: nullable(TEXT),
      publishedAt: nullable(INSTANT),
      occurredAt: told('When it was collected', INSTANT),
      backfilled: BOOLEAN,
      matchedTerms: listOf(TEXT),
      engagement: object({ likes: count, replies: count, shares: count, views: count, score: count }),
      media: listOf(object({ url: TEXT, type: TEXT })),
      truncated: told(
        'Something was cut: a text keeps 64 KiB of UTF-8, a title 1 KiB. The body of its event says so as well',
        BOOLEAN,
      ),
      labels: listOf(oneOf(LABELS)),
      bucket: nullable(object({ key: TEXT, label: TEXT })),
      coBrands: listOf(TEXT),
      ai: nullable(FREE_FORM),
      storyId: nullable(TEXT),
      listing: told('Of vinted alone', itemObject),
      dropped: told('Why it was left out of pushes; null: it was not', dropped),
    },
    {
      analysis: told('Absent when nothing classified it', ref('Analysis')),
      corrected: told(
        'Readings that a person has corrected; absent where there are none',
        listOf(oneOf(['sentiment', 'intent', 'relevance'])),
      ),
    },
  ),
  MentionSeries: object({
    data: listOf(
      object({
        at: told('Beginning of the bucket, UTC', INSTANT),
        group: told('Null without `group`, and of mentions that were not read', nullable(TEXT)),
        count: INTEGER,
      }),
    ),
    bucket: oneOf(['hour', 'day']),
    since: INSTANT,
    until: INSTANT,
  }),
  MentionPage: object(
    {
      data: listOf(ref('Mention')),
      since: told('The window’s beginning that was used', INSTANT),
      until: nullable(INSTANT),
      meta: object({ credits_used: INTEGER }),
    },
    { nextCursor: TEXT },
  ),
  Why: object({
    id: ID,
    matchMode: told(
      'How the item was matched. `word` where the search says `platform` and the source has no search of its own',
      oneOf(MATCH_MODES),
    ),
    matchedTerms: listOf(
      told('A term and where it was found', object({ term: TEXT, field: oneOf(['title', 'text']) })),
    ),
    matches: listOf(
      told(
        'Offsets in UTF-16 code units',
        object({ term: TEXT, field: oneOf(['title', 'text']), start: INTEGER, end: INTEGER }),
      ),
    ),
    mutes: listOf(object({ value: TEXT, hit: BOOLEAN, detail: TEXT })),
    vips: listOf(object({ handle: TEXT, hit: BOOLEAN, detail: TEXT })),
    rules: listOf(FREE_FORM),
    readings: listOf(FREE_FORM),
    dropped,
    itemId: TEXT,
    checkId: ID,
    eventIds: listOf(ID),
  }),
  ItemObject: told('What the source says of an item, and keys of its own.', {
    type: 'object',
    properties: {
      id: TEXT,
      source: SOURCE,
      url: nullable(TEXT),
      author: nullable(TEXT),
      publishedAt: nullable(INSTANT),
    },
    required: ['id', 'source'],
    additionalProperties: true,
  }),
  Envelope: told(
    'An event as it is delivered and replayed, byte for byte. The item stands in one of its object keys.',
    object(
      {
        id: ID,
        type: { type: 'string', pattern: '^[a-z_]+\\.[a-z_]+$', examples: ['hn_item.created'] },
        watchId: nullable(ID),
        keywordId: nullable(ID),
        listing: itemObject,
        tweet: itemObject,
        post: itemObject,
        video: itemObject,
        item: itemObject,
        article: itemObject,
        answer: itemObject,
        previousPrice: nullable(NUMBER),
        occurredAt: INSTANT,
        ai: nullable(FREE_FORM),
      },
      { analysis: ref('Analysis'), data: told('Of an event of the keyword itself', FREE_FORM) },
    ),
  ),
};

const filters = [
  repeated('source', 'Of which source.', oneOf(SOURCE_IDS)),
  repeated('author', 'By whom: the exact handle.'),
  repeated(
    'q',
    'Words and "phrases" that the text holds, all of them, in any case; at most 50 in one search.',
    {
      type: 'string',
      maxLength: 200,
    },
  ),
  inQuery('mode', '`semantic` compares meanings, and costs credits', oneOf(['text', 'semantic'])),
  repeated('sentiment', 'Read as.', oneOf(SENTIMENTS)),
  repeated('intent', 'Read as.', oneOf(INTENTS)),
  repeated('keyword', 'Of which keyword.', ID),
  repeated('label', 'With which label; hidden ones are shown when they are asked for.', oneOf(LABELS)),
  repeated('lang', 'In which language.'),
  repeated('bucket', 'In which bucket.'),
  repeated('rule', 'For which rule fired.'),
  repeated('include', 'What is left out otherwise.', oneOf(['dropped'])),
  inQuery('order', 'Newest first, unless it is `asc`', { ...oneOf(['asc', 'desc']), default: 'desc' }),
];

const mention = inPath('id', 'The mention');
const common = { tag: 'Mentions', method: 'get' } as const;

export const mentionRoutes: readonly Route[] = [
  {
    ...common,
    path: '/v1/mentions',
    operationId: 'listMentions',
    summary: 'Mentions of the whole account',
    parameters: [since('24 hours ago'), UNTIL, ...filters, ...paging()],
    answer: ref('MentionPage'),
  },
  ...(['keywords', 'queries'] as const).map((name) => ({
    ...common,
    path: `/v1/${name}/{id}/results`,
    operationId: name === 'keywords' ? 'resultsOfKeyword' : 'resultsOfQuery',
    summary: 'Mentions of one keyword',
    parameters: [inPath('id', 'The keyword'), since('30 days ago'), UNTIL, ...filters, ...paging()],
    answer: ref('MentionPage'),
  })),
  {
    ...common,
    path: '/v1/mentions/series',
    operationId: 'mentionSeries',
    summary: 'Counts of mentions over time, empty buckets included',
    description: 'At most 2,400 buckets and 50,000 rows. Free.',
    parameters: [
      inQuery('bucket', 'What is counted together, in UTC', { ...oneOf(['hour', 'day']), default: 'day' }),
      inQuery('group', 'A series for each value of it', oneOf(['source', 'sentiment', 'intent', 'keyword'])),
      since('24 hours before `until` by the hour, 30 days by the day'),
      UNTIL,
      ...filters.filter(({ name }) => name !== 'order' && name !== 'bucket'),
    ],
    answer: ref('MentionSeries'),
  },
  {
    ...common,
    path: '/v1/mentions/export',
    operationId: 'exportMentions',
    summary: 'Mentions as a file, streamed',
    description:
      'The first line of a CSV names the columns, by the keys of a mention. Oldest first unless `order=desc`. An export that was cut off goes on with `after` and the same filters, without the line of names. Text that a spreadsheet would take for a formula has an apostrophe in front. Four at once for each account. Free.',
    parameters: [
      inQuery('format', 'One mention a line', { ...oneOf(['csv', 'ndjson']), default: 'ndjson' }),
      inQuery('after', 'The id of the last mention that arrived', ID),
      since('24 hours ago'),
      UNTIL,
      ...filters,
    ],
    files: { 'text/csv': TEXT, 'application/x-ndjson': TEXT },
  },
  {
    ...common,
    path: '/v1/mentions/{id}',
    operationId: 'getMention',
    summary: 'A mention',
    parameters: [mention],
    answer: ref('Mention'),
  },
  {
    ...common,
    method: 'patch',
    path: '/v1/mentions/{id}',
    operationId: 'changeMention',
    summary: 'Label a mention, or correct what was read of it',
    description: 'The stored event never changes.',
    parameters: [mention],
    body: ref('MentionChange'),
    example: { labels: ['starred'], sentiment: 'positive' },
    answer: ref('Mention'),
  },
  {
    ...common,
    path: '/v1/mentions/{id}/why',
    operationId: 'whyMention',
    summary: 'Why a mention is here, and what was made of it',
    parameters: [mention],
    answer: ref('Why'),
  },
  ...(['keywords', 'queries'] as const).map((name) => ({
    ...common,
    tag: 'Keywords',
    path: `/v1/${name}/{id}/events`,
    operationId: name === 'keywords' ? 'eventsOfKeyword' : 'eventsOfQuery',
    summary: 'Events of a keyword’s watches and of the keyword itself, oldest first, as they were delivered',
    parameters: [inPath('id', 'The keyword'), since('7 days ago'), UNTIL, ...paging()],
    answer: pageOf('data', ref('Envelope'), { since: INSTANT }),
  })),
  {
    ...common,
    tag: 'Watches',
    path: '/v1/{source}/watches/{id}/events',
    operationId: 'eventsOfWatch',
    summary: 'Events of a watch, oldest first, as they were delivered',
    parameters: [SOURCE_IN_PATH, inPath('id', 'The watch'), since('7 days ago'), UNTIL, ...paging()],
    answer: pageOf('data', ref('Envelope'), { since: INSTANT }),
  },
];
