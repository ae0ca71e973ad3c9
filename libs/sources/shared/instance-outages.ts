import { recordOf, textOf } from './shape.js';
import type { FetchContext } from '../source.js';

// The last outage of each server is stored in the history of the search, because watches of the search can have
// different intervals. A watch that was checked during the outage must read the server from `from`, even if other watches
// have read it since.

/**
 * Returns the time from which a server must be read: `context.since`, or earlier if the server failed at the last read
 * of a watch.
 */
export function sinceAt(host: string, context: FetchContext): Date | undefined {
  const { since, state } = context;
  const outage = recordOf(recordOf(recordOf(state['history'])?.['instances'])?.[host]);
  const [from, until] = [textOf(outage?.['from']), textOf(outage?.['until'])];
  if (!since || from === undefined || until === undefined || since > new Date(until)) return since;
  return new Date(Math.min(since.getTime(), Date.parse(from)));
}

/**
 * Stores that a server failed at this read. At a first check nothing is stored, because the next check begins at the
 * time of the first check anyway.
 */
export function noteOutage(host: string, context: FetchContext): void {
  const { state, now } = context;
  const from = sinceAt(host, context)?.toISOString();
  if (from === undefined) return;
  const history = recordOf(state['history']);
  const outage = { from, until: now.toISOString() };
  state['history'] = { ...history, instances: { ...recordOf(history?.['instances']), [host]: outage } };
}
