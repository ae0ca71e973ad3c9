import type { RuleView } from '#clickhouse';
import type { RuleResult } from '#rules';

/** Returns the result of a rule in the form in which `/why` and a backtest return it. */
export function ruleView({ ruleId, name, fired, clauses, actions }: RuleResult): RuleView {
  return {
    ...{ ruleId, name, fired },
    clauses: clauses.map(({ field, op, valueJson, seenJson, holds }) => ({
      ...{ field, op, value: parsed(valueJson), seen: parsed(seenJson), holds },
    })),
    actions: [...actions],
  };
}

function parsed(json: string): unknown {
  return json === '' ? null : (JSON.parse(json) as unknown);
}
