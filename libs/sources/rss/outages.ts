import { recordOf, textOf } from '../shared/shape.js';
import type { FetchContext, Outage } from '../source.js';

/** An outage as stored in the history. The times are ISO 8601; `until` is absent during the outage. */
interface KeptOutage {
  from: string;
  until?: string;
}

/**
 * Stores in the search's history when a feed stopped answering, and when it answered again. If the feed answers,
 * returns its last outage; undefined if it has had none, or does not answer now. If the history is lost, no outage is
 * known, so Earshot reports items as new.
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
