import { create } from '@bufbuild/protobuf';
import { AlertEventSchema, type AlertEvent, type AlertFired } from '#contracts';

/** The last episode of each rule of a keyword, by the key of the rule (its id, or `spike`). */
export type AlertsState = ReadonlyMap<string, AlertEpisode>;

/** An episode begins when a rule fires. While the episode is open, the rule does not fire again. */
export type AlertEpisode =
  | { status: 'open'; alertId: string; suppressedUntil: string }
  | { status: 'ended'; alertId: string; suppressedUntil: string };

/** The result of an evaluation of the rules of a keyword. */
export interface AlertCommand {
  /** Ids of alerts whose episodes have ended. */
  ended: readonly string[];
  /** Alerts whose conditions are reached. */
  fired: readonly AlertFired[];
  /** ISO 8601 */
  at: string;
}

/** The state of a keyword whose rules have never fired. */
export const NO_ALERTS: AlertsState = new Map();

/**
 * Returns the facts of an evaluation. Another replica can have evaluated the same mentions before. So a rule does not
 * fire if its episode is open, or if the rule fired less than 60 minutes ago.
 */
export function decide({ ended, fired, at }: AlertCommand, state: AlertsState): AlertEvent[] {
  const events: AlertEvent[] = [];
  const isOver = new Set(ended);
  for (const [key, { status, alertId }] of state)
    if (status === 'open' && isOver.has(alertId))
      events.push(create(AlertEventSchema, { event: { case: 'ended', value: { alertId, key } } }));
  const now = events.reduce(evolve, state);
  for (const value of fired) {
    const last = now.get(value.key);
    const mayFire = !last || (last.status === 'ended' && last.suppressedUntil <= at);
    if (mayFire) events.push(create(AlertEventSchema, { event: { case: 'fired', value } }));
  }
  return events;
}

/** Returns the state after the event. */
export function evolve(state: AlertsState, { event }: AlertEvent): AlertsState {
  switch (event.case) {
    case 'fired': {
      const { key, alertId, suppressedUntil } = event.value;
      return new Map(state).set(key, { status: 'open', alertId, suppressedUntil });
    }
    case 'ended': {
      const { key, alertId } = event.value;
      const last = state.get(key);
      if (last?.alertId !== alertId) return state;
      return new Map(state).set(key, { ...last, status: 'ended' });
    }
    case undefined:
      return state;
  }
}
