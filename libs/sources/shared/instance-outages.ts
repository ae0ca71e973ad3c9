import { listOf, recordOf, textOf } from './shape.js';
import type { FetchContext } from '../source.js';

// The outages of each server are stored in the history of the search, because watches of the search can have different
// intervals. A watch that was last checked during an outage must read the server from the start of this outage, even if
// other watches have read it since.

/** An outage of one server. ISO 8601 */
interface InstanceOutage {
  /** The time from which the first failed read would have read. */
  from: string;
  /** The time of the last failed read. */
  until: string;
}

// `context.since` is this long before the watch's previous read.
const OVERLAP_MS = 5 * 60_000;
/** Outages that begin within this time count as one, so that a server that often fails has few outages. */
const JOINED_MS = 15 * 60_000;
/** Only the newest outages of a server are kept. A watch that was last checked in an earlier outage can miss posts. */
const MAX_OUTAGES = 10;

/**
 * Returns the time from which a server must be read: `context.since`, or earlier if the server failed at the last read
 * of a watch.
 */
export function sinceAt(host: string, context: FetchContext): Date | undefined {
  const { since } = context;
  if (!since) return undefined;
  const lastReadMs = since.getTime() + OVERLAP_MS;
  const outage = outagesOf(host, context).find(({ until }) => lastReadMs <= Date.parse(until));
  return outage && Date.parse(outage.from) < since.getTime() ? new Date(outage.from) : since;
}

/**
 * Stores that a server failed at this read. At a first check nothing is stored, because the next check begins at the
 * time of the first check anyway.
 */
export function noteOutage(host: string, context: FetchContext): void {
  const { state, now } = context;
  const from = sinceAt(host, context)?.toISOString();
  if (from === undefined) return;
  const until = now.toISOString();
  // An outage that began later is a part of this one.
  const earlier = outagesOf(host, context).filter((outage) => outage.from < from);
  const last = earlier.at(-1);
  const isSame = last !== undefined && Date.parse(from) - Date.parse(last.from) < JOINED_MS;
  const outages = isSame
    ? [...earlier.slice(0, -1), { from: last.from, until }]
    : [...earlier, { from, until }].slice(-MAX_OUTAGES);
  const history = recordOf(state['history']);
  state['history'] = { ...history, instances: { ...recordOf(history?.['instances']), [host]: outages } };
}

/**
 * Returns the stored outages of a server, oldest first. Leaves out outages that end in the future, because our clock was
 * set back after them: until then, every read would begin at these outages.
 */
function outagesOf(host: string, { state, now }: FetchContext): InstanceOutage[] {
  const kept = recordOf(recordOf(state['history'])?.['instances'])?.[host];
  // An earlier version stored only the last outage.
  return (listOf(kept) ?? [kept]).flatMap((value) => {
    const outage = recordOf(value);
    const [from, until] = [textOf(outage?.['from']), textOf(outage?.['until'])];
    if (from === undefined || until === undefined) return [];
    // The clocks of replicas can differ a little.
    return Date.parse(until) > now.getTime() + OVERLAP_MS ? [] : [{ from, until }];
  });
}
