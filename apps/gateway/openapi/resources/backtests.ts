import type { Route } from '../operation.js';
import { inPath, inQuery, paging } from '../parameters.js';
import {
  described,
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
  SOURCE,
  TEXT,
  type Schema,
} from '../schema.js';

const dropped = nullable(object({ reason: TEXT, rule: TEXT }));

export const backtestSchemas: Readonly<Record<string, Schema>> = {
  Backtest: object({
    id: described('Id for reading the items of the backtest, valid for 24 hours', ID),
    window: object({
      from: described('Later than `since` if there are more than 200,000 mentions', INSTANT),
      to: INSTANT,
    }),
    items: described('Number of mentions that were tested', INTEGER),
    byRule: described(
      'Each enabled rule, in the order of the rules; days are in UTC',
      listOf(
        object({
          ruleId: ID,
          name: TEXT,
          fired: INTEGER,
          perDay: listOf(object({ date: TEXT, count: INTEGER })),
        }),
      ),
    ),
    dropped: described('Mentions that would be dropped', listOf(object({ reason: TEXT, count: INTEGER }))),
    alerts: described(
      'Alerts that would have fired, the earliest first',
      listOf(
        object({
          at: INSTANT,
          kind: oneOf(['volume', 'sentiment_shift', 'spike']),
          observed: NUMBER,
          baseline: NUMBER,
          ruleId: described('Null for a spike alert', nullable(ID)),
          name: nullable(TEXT),
        }),
      ),
    ),
    added: described(
      'Number of pairs of a rule and a mention for which the tested rule fires but did not fire when the mention was stored',
      INTEGER,
    ),
    removed: described(
      'Number of pairs of a rule and a mention for which the rule fired when the mention was stored but would not fire now',
      INTEGER,
    ),
  }),
  BacktestItem: object({
    mentionId: ID,
    occurredAt: INSTANT,
    source: SOURCE,
    title: nullable(TEXT),
    url: TEXT,
    dropped: described('Why the tested rules would drop the mention; null if they would keep it', dropped),
    droppedThen: described('Why the mention was dropped when it was stored; null if it was kept', dropped),
    labels: described('Labels that the rules would set', listOf(TEXT)),
    rules: described('The rules that would be checked', listOf(ref('RuleOutcome'))),
    added: described(
      'Ids of tested rules that fire but did not fire when the mention was stored',
      listOf(TEXT),
    ),
    removed: described(
      'Ids of rules that fired when the mention was stored but would not fire now',
      listOf(TEXT),
    ),
  }),
};

const FIRED = inQuery(
  'fired',
  'Only items for which a tested rule fires, or for which a rule fired that would not fire now',
  {
    ...{ type: 'boolean', default: false },
  },
);
const keyword = inPath('id', 'Id of the keyword');

export const backtestRoutes: readonly Route[] = (['keywords', 'queries'] as const).flatMap(
  (base): Route[] => [
    {
      tag: 'Keywords',
      method: 'post',
      path: `/v1/${base}/{id}/backtest`,
      operationId: base === 'keywords' ? 'backtestKeyword' : 'backtestQuery',
      summary: 'Test rules on the stored mentions of a keyword',
      description:
        'Changes nothing. A key that is absent in the body has the keyword’s value. The readings of the mentions are not repeated. Tests at most 200,000 mentions, the newest. Can return 429 while another backtest of the account runs. Free.',
      parameters: [keyword],
      body: ref('BacktestBody'),
      example: { [base === 'keywords' ? 'min_relevance' : 'minRelevance']: 40 },
      answer: ref('Backtest'),
    },
    {
      tag: 'Keywords',
      method: 'get',
      path: `/v1/${base}/{id}/backtest/{backtest}/items`,
      operationId: base === 'keywords' ? 'backtestItemsOfKeyword' : 'backtestItemsOfQuery',
      summary: 'List the items of a backtest, newest first',
      description:
        'A page can have fewer items than `limit` although later pages have items. With `fired=true`, can return 429 while another such page of the account is read. Returns 404 for a backtest that is older than 24 hours. Free.',
      parameters: [keyword, inPath('backtest', 'Id of the backtest'), FIRED, ...paging()],
      answer: pageOf('data', ref('BacktestItem')),
    },
  ],
);
