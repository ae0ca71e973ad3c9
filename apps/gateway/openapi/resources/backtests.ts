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
    id: described('Identifies the backtest when its items are read, for 24 hours', ID),
    window: object({
      from: described('Later than `since` if there are more than 200,000 mentions', INSTANT),
      to: INSTANT,
    }),
    items: described('Mentions that were tested', INTEGER),
    byRule: described(
      'Each enabled rule, in order; days in UTC',
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
    added: described('Pairs of a rule and a mention: the rule would fire, and did not', INTEGER),
    removed: described('Pairs of a rule and a mention: the rule fired, and would not', INTEGER),
  }),
  BacktestItem: object({
    mentionId: ID,
    occurredAt: INSTANT,
    source: SOURCE,
    title: nullable(TEXT),
    url: TEXT,
    dropped: described('Why the tested rules would drop the mention; null if they would keep it', dropped),
    droppedThen: described('Why the mention was dropped; null if it was kept', dropped),
    labels: described('Labels that the rules would set', listOf(TEXT)),
    rules: described('The rules that would be checked', listOf(ref('RuleOutcome'))),
    added: described('Ids of rules that would fire, and did not', listOf(TEXT)),
    removed: described('Ids of rules that fired, and would not', listOf(TEXT)),
  }),
};

const FIRED = inQuery('fired', 'Only items for which a rule fires, or no longer fires', {
  ...{ type: 'boolean', default: false },
});
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
        'Free; changes nothing. An absent key keeps the value of the keyword. The readings of the mentions stay as they are. 429 while another backtest of the account runs.',
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
        'A page can have fewer items than `limit` although later pages have items. With `fired=true`: 429 while another such page of the account is read.',
      parameters: [keyword, inPath('backtest', 'Id of the backtest'), FIRED, ...paging()],
      answer: pageOf('data', ref('BacktestItem')),
    },
  ],
);
