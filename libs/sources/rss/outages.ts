import { recordOf, textOf } from '../shared/shape.js';
import type { FetchContext, Outage } from '../source.js';

/** As stored in the history: ISO 8601; `until` is absent during the outage. */
interface KeptOutage {
  from: string;
  until?: string;
}

/**
 * Stores in the search's history since when a feed has not answered, and returns the last outage of a feed that
 * answers. Only failures are stored: if the history is lost, items are reported rather than dropped.
 */
export function outageOf(feedUrl: string, answered: boolean, context: FetchContext): Outage | undefined {
  const { state } = context;
  const now = context.now.toISOString();
  const history = recordOf(state['history']);
  const outages = recordOf(history?.['outages']);
  const last = keptOutage(outages?.[feedUrl]);
  const lasts = last !== undefined && last.until === undefined;
  const keep = (outage: KeptOutage) => {
    state['history'] = { ...history, outages: { ...outages, [feedUrl]: outage } };
  };
  if (!answered) {
    if (!lasts) keep({ from: now });
    return undefined;
  }
  if (!last) return undefined;
  const until = last.until ?? now;
  if (lasts) keep({ from: last.from, until });
  return { from: new Date(last.from), until: new Date(until) };
}

function keptOutage(value: unknown): KeptOutage | undefined {
  const kept = recordOf(value);
  const from = textOf(kept?.['from']);
  const until = textOf(kept?.['until']);
  return from === undefined ? undefined : { from, ...(until !== undefined && { until }) };
}
