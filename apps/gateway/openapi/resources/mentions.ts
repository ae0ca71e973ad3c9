import { INTENTS, SENTIMENTS, SOURCE_IDS } from '#contracts';
import { LABELS } from '../../reads/mention-filter.js';
import type { Route } from '../operation.js';
import { inPath, inQuery, paging, repeated, since, SOURCE_IN_PATH, UNTIL } from '../parameters.js';
import { ID, INSTANT, INTEGER, listOf, object, oneOf, pageOf, ref, TEXT, SOURCE } from '../schema.js';

const mode = inQuery(
  'mode',
  '`semantic` orders mentions by how near their meaning is to `q`, and costs 2 credits for each `q`. The other filters apply too, but `order` cannot be used',
  { ...oneOf(['text', 'semantic']), default: 'text' },
);

const ORDER = '`desc`: newest first; `asc`: oldest first';
const Q =
  'Words and "phrases" that must all be in the title or the text, in upper or lower case. Each `q` has up to 200 characters; one search can have at most 50 words and phrases.';
/** `q` of a route that can search by meaning. */
const textOrQuestion = repeated(
  'q',
  `${Q} With \`mode=semantic\`, each \`q\` is a question of up to 1,000 characters, and a request has 1 to 5 questions. The score of a mention shows how near its meaning is to the nearest question.`,
  { type: 'string', maxLength: 1000 },
);

/** The filters of mentions, for routes that search only the text. */
export const textFilters = [
  repeated('source', 'Only this source.', oneOf(SOURCE_IDS)),
  repeated('author', 'Only this author: the exact handle.'),
  repeated('q', Q, { type: 'string', maxLength: 200 }),
  repeated('sentiment', 'Only this sentiment.', oneOf(SENTIMENTS)),
  repeated('intent', 'Only this intent.', oneOf(INTENTS)),
  repeated('keyword', 'Only this keyword.', ID),
  repeated(
    'label',
    'Only mentions with this label. Without `label=hidden`, hidden mentions are left out.',
    oneOf(LABELS),
  ),
  repeated('lang', 'Only this language.'),
  repeated('bucket', 'Only this bucket.'),
  repeated('rule', 'Only mentions for which this rule fired.'),
  repeated('include', '`dropped`: also include dropped mentions.', oneOf(['dropped'])),
  inQuery(
    'minRelevance',
    'Only mentions with at least this relevance, and mentions whose relevance was not read.',
    { type: 'integer', minimum: 0, maximum: 100 },
  ),
  inQuery('order', ORDER, {
    ...oneOf(['asc', 'desc']),
    default: 'desc',
  }),
];
/** The filters of a list that can also be searched by meaning. */
const filters = [...textFilters.flatMap((one) => (one.name === 'q' ? [textOrQuestion, mode] : [one]))];

const SEMANTIC =
  'Free without `mode=semantic`. A semantic search costs 2 credits for each `q`; if the account has too few credits, the response is 402 and no search runs. For ten minutes, the same questions with the same filters are free, and so are the next pages. `meta.credits_used` states the cost of this request. A semantic search finds at most 200 mentions in total, on all pages together.';
const mention = inPath('id', 'Id of the mention');
const common = { tag: 'Mentions', method: 'get' } as const;

export const mentionRoutes: readonly Route[] = [
  {
    ...common,
    path: '/v1/mentions',
    operationId: 'listMentions',
    summary: 'List the mentions of the account',
    description: SEMANTIC,
    refusals: [402],
    parameters: [since('24 hours before `until`'), UNTIL, ...filters, ...paging()],
    answer: ref('MentionPage'),
  },
  ...(['keywords', 'queries'] as const).map((name) => ({
    ...common,
    path: `/v1/${name}/{id}/results`,
    operationId: name === 'keywords' ? 'resultsOfKeyword' : 'resultsOfQuery',
    summary: 'List the mentions of one keyword',
    description: SEMANTIC,
    refusals: [402],
    parameters: [
      inPath('id', 'Id of the keyword'),
      since('30 days before `until`'),
      UNTIL,
      ...filters,
      ...paging(),
    ],
    answer: ref('MentionPage'),
  })),
  {
    ...common,
    path: '/v1/mentions/series',
    operationId: 'mentionSeries',
    summary: 'Count the mentions of each hour or day',
    description:
      'Hours and days without mentions are included. At most 2,400 hours or days, and 50,000 rows. Free.',
    parameters: [
      inQuery('bucket', 'Whether mentions are counted for each hour or for each day, in UTC', {
        ...oneOf(['hour', 'day']),
        default: 'day',
      }),
      inQuery(
        'group',
        'Return one series for each value of this property',
        oneOf(['source', 'sentiment', 'intent', 'keyword']),
      ),
      since('24 hours before `until` with `bucket=hour`, 30 days before `until` with `bucket=day`'),
      UNTIL,
      ...textFilters.filter(({ name }) => !['order', 'bucket'].includes(String(name))),
    ],
    answer: ref('MentionSeries'),
  },
  {
    ...common,
    path: '/v1/mentions/top',
    operationId: 'topOfMentions',
    summary: 'List the authors, communities or matched terms with the most mentions',
    description: 'Free.',
    parameters: [
      inQuery('by', 'The property whose values are counted', {
        ...oneOf(['author', 'community', 'term']),
        default: 'author',
      }),
      inQuery('limit', 'Maximum number of rows', { type: 'integer', minimum: 1, maximum: 100, default: 10 }),
      since('30 days before `until`'),
      UNTIL,
      ...textFilters.filter(({ name }) => name !== 'order'),
    ],
    answer: object({
      data: listOf(object({ value: TEXT, source: SOURCE, count: INTEGER })),
      by: oneOf(['author', 'community', 'term']),
      since: INSTANT,
      until: INSTANT,
    }),
  },
  {
    ...common,
    path: '/v1/mentions/export',
    operationId: 'exportMentions',
    summary: 'Export mentions as a streamed file',
    description:
      'A line of NDJSON contains a whole mention. A CSV has fewer columns; its first line contains their names, which are keys of a mention, such as `author` and `engagement.likes`. The order is oldest first unless `order=desc`. To continue an interrupted export, send `after` with the same filters; the line of column names is then omitted. Text that a spreadsheet would run as a formula gets an apostrophe in front. An account can run four exports at the same time in each replica of the gateway; a further export gets 429. Free.',
    parameters: [
      inQuery('format', 'File format, with one mention for each line', {
        ...oneOf(['csv', 'ndjson']),
        default: 'ndjson',
      }),
      inQuery(
        'after',
        'Id of the last mention that you have received. The export continues after this mention',
        ID,
      ),
      since('24 hours before `until`'),
      UNTIL,
      ...textFilters.map((one) =>
        one.name === 'order' ? inQuery('order', ORDER, { ...oneOf(['asc', 'desc']), default: 'asc' }) : one,
      ),
    ],
    files: { 'text/csv': TEXT, 'application/x-ndjson': TEXT },
  },
  {
    ...common,
    path: '/v1/mentions/{id}',
    operationId: 'getMention',
    summary: 'Get a mention',
    description: 'Also returns hidden and dropped mentions, with the reason. Free.',
    parameters: [mention],
    answer: ref('Mention'),
  },
  {
    ...common,
    method: 'patch',
    path: '/v1/mentions/{id}',
    operationId: 'changeMention',
    summary: 'Label a mention, or correct its sentiment, intent or relevance',
    description:
      'A key that is absent in the body does not change; null removes the labels or the correction. The stored event never changes. Free.',
    parameters: [mention],
    body: ref('MentionChange'),
    example: { labels: ['starred'], sentiment: 'positive' },
    answer: ref('Mention'),
  },
  {
    ...common,
    path: '/v1/mentions/{id}/why',
    operationId: 'whyMention',
    summary: 'Explain why a mention matched, and what mutes, VIPs and rules did',
    description:
      'Contains the terms with their offsets, the outcome of each mute, VIP and rule in order, and how each reading was made. Free.',
    parameters: [mention],
    answer: ref('Why'),
  },
  ...(['keywords', 'queries'] as const).map((name) => ({
    ...common,
    tag: 'Keywords',
    path: `/v1/${name}/{id}/events`,
    operationId: name === 'keywords' ? 'eventsOfKeyword' : 'eventsOfQuery',
    summary: 'List the events of a keyword and of its watches as they were delivered, oldest first',
    description:
      'Returns exactly the bytes that webhooks receive, for 90 days after each event. If `since` is earlier, returns only the events that are still stored. Free.',
    parameters: [inPath('id', 'Id of the keyword'), since('7 days before `until`'), UNTIL, ...paging()],
    answer: pageOf('data', ref('Envelope'), { since: INSTANT }),
  })),
  {
    ...common,
    tag: 'Watches',
    path: '/v1/{source}/watches/{id}/events',
    operationId: 'eventsOfWatch',
    summary: 'List the events of a watch as they were delivered, oldest first',
    description:
      'Returns exactly the bytes that webhooks receive, for 90 days after each event. If `since` is earlier, returns only the events that are still stored. Free.',
    parameters: [
      SOURCE_IN_PATH,
      inPath('id', 'Id of the watch'),
      since('7 days before `until`'),
      UNTIL,
      ...paging(),
    ],
    answer: pageOf('data', ref('Envelope'), { since: INSTANT }),
  },
];
