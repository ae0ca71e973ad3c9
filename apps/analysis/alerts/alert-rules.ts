import type { Action, KeywordDefinition, Rule } from '#contracts';

/** The sensitivities of a spike alert. */
export const SPIKE_LEVELS = ['low', 'medium', 'high'] as const;
/** A sensitivity of a spike alert. */
export type SpikeLevel = (typeof SPIKE_LEVELS)[number];

/** What makes an alert fire. */
export type AlertCondition =
  | { kind: 'volume' | 'sentiment_shift'; window: '1h' | '24h'; min: number; multiple: number }
  | { kind: 'spike'; level: SpikeLevel };

/** An alert of a keyword: one of its `volume` or `sentiment_shift` rules, or its spike alert. */
export interface AlertRule {
  /** Identifies the alert among the alerts of its keyword: the rule's id, or `spike`. */
  key: string;
  /** Empty for a spike alert. */
  name: string;
  /** Only mentions of this source are counted; null: mentions of all sources. */
  source: string | null;
  condition: AlertCondition;
  actions: AlertActions;
}

/** The actions of an alert that fires, in addition to its event. */
export interface AlertActions {
  /** Send the event to the webhook, even if the keyword does not subscribe to this type of event. */
  webhook: boolean;
  notifyChannelIds: string[];
  /** Notify all channels of the keyword. */
  notifyKeywordChannels: boolean;
}

/** The key of a spike alert. */
export const SPIKE_KEY = 'spike';

/** Returns the alerts of a keyword: its enabled `volume` and `sentiment_shift` rules, and its spike alert. */
export function alertRulesOf(definition: Pick<KeywordDefinition, 'rules' | 'spikeAlert'>): AlertRule[] {
  const rules = definition.rules.flatMap(({ id, name, enabled, source, when, then }): AlertRule[] => {
    const condition = enabled ? windowConditionOf(when) : undefined;
    return condition ? [{ key: id, name, source: source ?? null, condition, actions: actionsOf(then) }] : [];
  });
  const { spikeAlert = '' } = definition;
  return isSpikeLevel(spikeAlert) ? [...rules, spikeRule(spikeAlert)] : rules;
}

/** Returns whether this release knows a sensitivity of a spike alert. */
export function isSpikeLevel(level: string): level is SpikeLevel {
  return SPIKE_LEVELS.some((one) => one === level);
}

/** Returns whether this release knows the condition of a rule: it is on single mentions or on a window. */
export function isKnownCondition(when: Rule['when']): boolean {
  return when?.kind === 'item' || windowConditionOf(when) !== undefined;
}

function spikeRule(level: SpikeLevel): AlertRule {
  return {
    key: SPIKE_KEY,
    name: '',
    source: null,
    condition: { kind: 'spike', level },
    actions: { webhook: false, notifyChannelIds: [], notifyKeywordChannels: true },
  };
}

function windowConditionOf(when: Record<string, unknown> | undefined): AlertCondition | undefined {
  const { kind, window, min, multiple } = when ?? {};
  const isKnown =
    (kind === 'volume' || kind === 'sentiment_shift') &&
    (window === '1h' || window === '24h') &&
    typeof min === 'number' &&
    typeof multiple === 'number';
  return isKnown ? { kind, window, min, multiple } : undefined;
}

function actionsOf(then: readonly Pick<Action, 'type' | 'channelIds'>[]): AlertActions {
  const notify = then.filter(({ type }) => type === 'notify');
  return {
    webhook: then.some(({ type }) => type === 'webhook'),
    notifyChannelIds: [...new Set(notify.flatMap(({ channelIds }) => channelIds))],
    notifyKeywordChannels: notify.some(({ channelIds }) => channelIds.length === 0),
  };
}
