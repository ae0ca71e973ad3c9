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
  described,
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
        event: described(
          '`listing.created`, `listing.price_changed` or `listing.delisted`. Null if the listing already existed when Earshot first saw it',
          nullable(TEXT),
        ),
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
    insufficientData: described('True with fewer than 5 listings; the quantiles are then null', BOOLEAN),
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
        position: described('Position of the first mention, in UTF-16 code units', nullable(INTEGER)),
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
  {
    ...repeated('brand', ''),
    description:
      'A brand to look for in the answers. Can be repeated, for at most 20 brands. Default: the brands of the search.',
  },
  repeated('engine', 'Only answers of this engine.', oneOf(ENGINES)),
  since('90 days before `until`'),
  UNTIL,
  ...paging(),
];

export const marketRoutes: readonly Route[] = [
  {
    method: 'get',
    tag: 'Vinted',
    path: '/v1/vinted/items/{id}/price-history',
    operationId: 'priceHistoryOfItem',
    summary: 'Get the observed prices of a listing',
    description:
      'Contains only what checks of this account have seen: the first price, each change, and when the listing was removed. `limit`, `from` and `to` limit the response; there is no cursor. Free.',
    parameters: [
      inPath('id', 'Id of the listing', { type: 'string', pattern: '^\\d{1,20}$' }),
      inQuery('limit', 'Maximum number of points; the latest are returned', {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      inQuery('from', 'Beginning of the window', INSTANT_SENT),
      inQuery('to', 'End of the window (exclusive)', INSTANT_SENT),
      inQuery('market', 'Market. Default: the market in which the listing was seen last'),
    ],
    answer: ref('PriceHistory'),
  },
  {
    method: 'get',
    tag: 'Vinted',
    path: '/v1/vinted/market-stats',
    operationId: 'marketStats',
    summary: 'Get statistics of the observed listings for each UTC day',
    description:
      'Requires exactly one of `criteria_hash`, `keyword_id`, `brand_id` and `catalog_id`. The window is at most 366 days long. Free.',
    parameters: [
      inQuery('criteria_hash', 'Listings of this search: `criteriaHash` of its watch'),
      inQuery('keyword_id', 'Listings of this keyword'),
      inQuery('brand_id', 'Listings of this brand; also requires `market`'),
      inQuery('catalog_id', 'Listings of this catalogue; also requires `market`'),
      inQuery('market', 'Market of the listings'),
      inQuery('from', 'First day. Default: 29 days before `to`', INSTANT_SENT),
      inQuery('to', 'Last day. Default: today', INSTANT_SENT),
    ],
    answer: object({ data: listOf(ref('MarketDay')) }),
    refusals: [404],
  },
  ...(['keywords', 'queries'] as const).map((name) => ({
    ...answers,
    path: `/v1/${name}/{id}/answers`,
    operationId: name === 'keywords' ? 'answersOfKeyword' : 'answersOfQuery',
    summary: 'List the answers of AI engines to a keyword’s prompts, newest first',
    description:
      'Each answer has its citations, and shows for each brand whether the answer mentions or cites the brand. Free.',
    parameters: [inPath('id', 'Id of the keyword'), ...answerParameters],
  })),
  {
    ...answers,
    path: '/v1/ai_answers/watches/{id}/answers',
    operationId: 'answersOfWatch',
    summary: 'List the answers of AI engines to a watch’s prompt, newest first',
    description:
      'Each answer has its citations, and shows for each brand whether the answer mentions or cites the brand. Free.',
    parameters: [inPath('id', 'Id of the watch'), ...answerParameters],
  },
];
