import { create } from '@bufbuild/protobuf';
import { DroppedSchema, RuleOutcomeSchema, type Event } from '#contracts';
import { ruleSubjectOf, type ItemRules, type RuleResult, type Similarity } from '#rules';

/**
 * If the envelope of an event is larger than this, the event contains its rules without clauses: with clauses, it might
 * not fit into a message.
 */
const MAX_ENVELOPE_BYTES = 256 * 1024;

/**
 * Returns the final event with the outcome of its keyword's rules. Its envelope and its charges do not change. Rules
 * can label or drop a backfilled item, but never send it.
 */
export function ruledEvent(event: Event, rules: ItemRules, similarity: Similarity): Event {
  if (event.dropped || !event.matched?.item) return event;
  const outcome = rules.outcomeOf(ruleSubjectOf(event), similarity);
  const { labels, stoppedBy, webhook, notifyChannelIds, notifyKeywordChannels } = outcome;
  const withClauses = event.envelope.length <= MAX_ENVELOPE_BYTES;
  return {
    ...event,
    rules: outcome.rules.map((rule) => recordOf(rule, withClauses)),
    labels,
    ...(stoppedBy !== undefined && {
      push: false,
      dropped: create(DroppedSchema, { reason: 'rule', rule: stoppedBy }),
    }),
    ...(!event.backfilled && { ruleWebhook: webhook, notifyChannelIds, notifyKeywordChannels }),
  };
}

function recordOf({ ruleId, name, fired, clauses, actions }: RuleResult, withClauses: boolean) {
  return create(RuleOutcomeSchema, {
    ...{ ruleId, name, fired, actions: [...actions] },
    clauses: withClauses ? clauses : [],
  });
}
