import { SOURCE_IDS } from '#contracts';
import type { Route } from '../operation.js';
import { inPath, inQuery, paging, repeated, since, UNTIL } from '../parameters.js';
import { ID, oneOf, pageOf, ref } from '../schema.js';

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
  ...inQuery(
    'keyword',
    'Id of the keyword that the body would change. Without it, the body is a new keyword',
    ID,
  ),
  example: '0192f3c4-7d1e-7b3a-9c55-0a4f6f2d9b10',
};
const TOKEN = { $ref: '#/components/parameters/EstimateToken' };

type Unnamed = Omit<Route, 'path' | 'tag' | 'operationId'>;

/** Returns the routes under both names that the interface has for keywords: `keywords` and `queries`. */
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
        'The searches begin immediately. The first check of each search is the baseline: it reports nothing. With `backfill: true`, the items of this check are kept as mentions. With `Service-Estimate-Token`, the create is refused if the body or the price differs from the estimate. The create itself costs nothing; each check costs the credits that the estimate shows.',
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
    description: 'Includes retired keywords, but not purged keywords. Free.',
    parameters: [
      repeated('state', 'Only keywords in this state.', oneOf(['active', 'paused', 'retired'])),
      repeated('source', 'Only keywords that contain this source, enabled or disabled.', oneOf(SOURCE_IDS)),
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
        'Stores nothing. If the create would refuse the body, the response is 200 with `valid: false`. Free. With `keyword`, estimates the price of a change of that keyword. The body is then the body of the PATCH, and `refusal` is the refusal of the PATCH. The keyword itself does not count in `searchSlots.inUse`.',
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
      'Returns every key of the create body with its present value, and read-only keys such as `state`, `monthlyCredits` and `watches`. The response can be changed and sent back with PATCH. Free.',
    parameters: [id],
    answer: ref('Keyword'),
  }),
  ...underBothNames('change', '/{id}', {
    method: 'patch',
    summary: 'Change a keyword',
    description:
      'A search whose criteria change starts over; its first check then reports nothing. Existing mentions are kept.',
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
      'Without `purge`, checks stop; the keyword, its mentions and events stay readable, and the events can be replayed. With `purge=true`, the keyword, its mentions and events are deleted from every store and cannot be restored. Free.',
    parameters: [
      id,
      inQuery('purge', 'Delete the keyword and its events permanently', { type: 'boolean', default: false }),
    ],
    status: 204,
  }),
  ...underBothNames('pause', '/{id}/pause', {
    method: 'post',
    summary: 'Pause a keyword',
    description:
      'The keyword has no checks and no costs until it is resumed. If a user has already paused the keyword, nothing changes. Free.',
    parameters: [id],
    answer: ref('Keyword'),
  }),
  ...underBothNames('resume', '/{id}/resume', {
    method: 'post',
    summary: 'Resume a keyword',
    description:
      'Checks begin again immediately, unless the keyword is outside its schedule. The first check can report items that were published during the pause. Returns 409 if the keyword is paused only by its schedule. A running keyword does not change. Free.',
    parameters: [id],
    answer: ref('Keyword'),
  }),
  ...underBothNames('quote', '/{id}/quote', {
    method: 'get',
    summary: 'Compare the quoted and the charged credits of a keyword',
    description:
      'Grouped by source and UTC day. The charged credits also contain the readings of items. Readings are not quoted, except other brands in answers of `ai_answers`. Free.',
    parameters: [id, since('30 days before `until`'), UNTIL],
    answer: ref('Quote'),
  }),
  ...underBothNames('feedOf', '/{id}/feed', {
    method: 'get',
    summary: 'Get the addresses of the feeds of a keyword',
    description:
      'Atom and JSON Feed 1.1 with the newest 50 mentions, without dropped and hidden mentions. Everybody who has the address of a feed can read it.',
    parameters: [id],
    answer: ref('Feed'),
  }),
  ...underBothNames('rotateFeedOf', '/{id}/feed/rotate', {
    method: 'post',
    summary: 'Replace the addresses of the feeds of a keyword',
    description: 'The previous addresses return 404 immediately.',
    parameters: [id],
    answer: ref('Feed'),
  }),
  ...underBothNames('activityOf', '/{id}/activity', {
    method: 'get',
    summary: 'List the checks and deliveries of a keyword, newest first',
    description:
      'Lists each check with the number of new events, its credits and the reason of a failure; each attempt to deliver an event; and each event of the keyword itself, such as `keyword.paused`. Free.',
    parameters: [
      id,
      since('7 days ago'),
      inQuery('source', 'Only this source', oneOf(SOURCE_IDS)),
      ...paging(500, 100),
    ],
    answer: pageOf('activity', ref('Activity')),
  }),
];
