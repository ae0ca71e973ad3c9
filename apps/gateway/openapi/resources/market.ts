import type { Route } from '../operation.js';
import { inPath, inQuery, paging, repeated, since, UNTIL } from '../parameters.js';
import {
  BOOLEAN,
  DATE,
  ID,
  INSTANT,
  INSTANT_SENT,
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
} from '../schema.js';

const price = nullable(NUMBER);
const ENGINES = ['openai', 'anthropic', 'perplexity', 'gemini'];

export const marketSchemas: Readonly<Record<string, Schema>> = {
  PriceHistory: object({
    itemId: TEXT,
    market: nullable(TEXT),
    currency: nullable(TEXT),
    firstSeenAt: nullable(INSTANT),
    lastSeenAt: nullable(INSTANT),
    status: oneOf(['listed', 'delisted']),
    points: listOf(
      object({
        at: INSTANT,
        price: NUMBER,
        previousPrice: price,
        event: told('Null: it was there when we first looked', nullable(TEXT)),
      }),
    ),
    summary: object({
      first: price,
      last: price,
      min: price,
      minAt: nullable(INSTANT),
      max: price,
      maxAt: nullable(INSTANT),
      changes: INTEGER,
    }),
  }),
  MarketDay: object({
    date: DATE,
    market: TEXT,
    n: INTEGER,
    newListings: INTEGER,
    delisted: INTEGER,
    priceChanges: INTEGER,
    min: price,
    p25: price,
    median: price,
    p75: price,
    max: price,
    mean: price,
    currency: TEXT,
    medianDaysToDelist: price,
    insufficientData: told('Fewer than 5 listings: no quantiles', BOOLEAN),
  }),
  Answer: object({
    id: ID,
    watchId: ID,
    engine: oneOf(ENGINES),
    model: TEXT,
    prompt: TEXT,
    market: TEXT,
    answeredAt: INSTANT,
    text: TEXT,
    citations: listOf(object({ url: TEXT, title: TEXT })),
    queries: listOf(TEXT),
    brands: listOf(
      object({
        brand: TEXT,
        mentioned: BOOLEAN,
        cited: BOOLEAN,
        position: told('Of the first mention, in UTF-16 code units', nullable(INTEGER)),
      }),
    ),
  }),
};

const answers = {
  method: 'get',
  tag: 'AI answers',
  answer: pageOf('data', ref('Answer'), { since: INSTANT }),
} as const;
const answerParameters = [
  repeated('brand', 'Brands to read the answers for; those of the search unless given. At most 20.'),
  repeated('engine', 'Of which engine.', oneOf(ENGINES)),
  since('90 days ago'),
  UNTIL,
  ...paging(),
];

export const marketRoutes: readonly Route[] = [
  {
    method: 'get',
    tag: 'Vinted',
    path: '/v1/vinted/items/{id}/price-history',
    operationId: 'priceHistoryOfItem',
    summary: 'What was observed of a listing’s price',
    parameters: [
      inPath('id', 'The listing', { type: 'string', pattern: '^\\d{1,20}$' }),
      inQuery('limit', 'The latest points', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
      inQuery('from', 'Only points that are not older', INSTANT_SENT),
      inQuery('to', 'Only points that are older', INSTANT_SENT),
      inQuery('market', 'The market; that where it was seen last unless given'),
    ],
    answer: ref('PriceHistory'),
  },
  {
    method: 'get',
    tag: 'Vinted',
    path: '/v1/vinted/market-stats',
    operationId: 'marketStats',
    summary: 'Observed listings, UTC day by UTC day',
    description: 'Exactly one of `criteria_hash`, `keyword_id`, `brand_id` and `catalog_id` is wanted.',
    parameters: [
      inQuery('criteria_hash', 'Of one search'),
      inQuery('keyword_id', 'Of one keyword'),
      inQuery('brand_id', 'Of one brand; `market` is wanted beside it'),
      inQuery('catalog_id', 'Of one catalogue; `market` is wanted beside it'),
      inQuery('market', 'The market'),
      inQuery('from', 'The first day; 30 days before `to` unless given', INSTANT_SENT),
      inQuery('to', 'The last day; today unless given', INSTANT_SENT),
    ],
    answer: object({ data: listOf(ref('MarketDay')) }),
    refusals: [404],
  },
  ...(['keywords', 'queries'] as const).map((name) => ({
    ...answers,
    path: `/v1/${name}/{id}/answers`,
    operationId: name === 'keywords' ? 'answersOfKeyword' : 'answersOfQuery',
    summary: 'What AI engines answered a keyword’s prompts, newest first',
    parameters: [inPath('id', 'The keyword'), ...answerParameters],
  })),
  {
    ...answers,
    path: '/v1/ai_answers/watches/{id}/answers',
    operationId: 'answersOfWatch',
    summary: 'What AI engines answered a watch’s prompt, newest first',
    parameters: [inPath('id', 'The watch'), ...answerParameters],
  },
];
