import type { Criteria, SourceId } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfTexts, filterTexts } from './filters.js';
import { noteOutage, sinceAt } from './instance-outages.js';
import { NamedServerClient } from './named-server-client.js';
import { merged } from './paging.js';
import { UpstreamError, type FetchContext, type Fetched, type NamedServer } from '../source.js';

// For sources that consist of many servers (Mastodon, Lemmy).

const MAX_INSTANCES = 5;
// A name with a dot. The last part of the name begins with a letter. So IP addresses and names without a dot, such as
// `localhost`, are refused.
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Returns the host of a text such as `lamps.example` or `https://lamps.example/` (also with http), in lower case;
 * undefined if the text contains anything more, or is not a host name.
 */
export function hostOf(text: string): string | undefined {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, host, username, pathname, search, hash } = new URL(address);
  const bare = host === hostname && username === '' && pathname === '/' && search === '' && hash === '';
  return bare && HOST_NAME.test(hostname) ? hostname : undefined;
}

/**
 * Returns the host in a setting, or `defaultHost` if the setting is empty.
 * @throws Error that names the setting, if the setting is not the name of a server
 */
export function hostOfSetting(setting: string, value: string, defaultHost: string): string {
  if (value.trim() === '') return defaultHost;
  const host = hostOf(value.trim());
  if (host === undefined)
    throw new Error(`${setting} must be the name of a server, for example ${defaultHost}`);
  return host;
}

/**
 * Returns the servers of a search (`filters.instances`), without duplicates; empty if the search names none, so that it
 * uses the configured server.
 */
export function instancesOf(criteria: Criteria): string[] {
  return [...new Set(filterTexts(criteria, 'instances').flatMap((text) => hostOf(text) ?? []))];
}

/** Returns the servers of a search except the configured one. */
export function namedInstances(criteria: Criteria, own: string): NamedServer[] {
  return instancesOf(criteria)
    .filter((host) => host !== own)
    .map((host) => ({ path: 'filters.instances', url: `https://${host}/` }));
}

/** Returns the faults of `filters.instances`. */
export function instanceFaults(criteria: Criteria, example: string): Fault[] {
  return faultsOfTexts(criteria, {
    key: 'instances',
    wanted: `a list of 1 to ${MAX_INSTANCES} servers, for example "${example}"`,
    valid: (text) => hostOf(text) !== undefined,
    max: MAX_INSTANCES,
  });
}

/** Servers whose results are combined. */
export interface Instances {
  source: SourceId;
  hosts: readonly string[];
  /** The configured host. */
  own: string;
  context: FetchContext;
}

/**
 * Reads several servers and merges their results. A server that fails causes a warning, and a later read covers the
 * period that this read has missed; if all fail, the read fails. If the configured server asks Earshot to wait, the
 * lane waits. If another server asks, only this server gets no requests for that time, and its fault is marked
 * (`search`), so that other searches do not wait.
 */
export async function readInstances(
  { source, hosts, own, context }: Instances,
  read: (host: string, context: FetchContext) => Promise<Fetched>,
): Promise<Fetched> {
  const outcomes = await Promise.all(
    hosts.map((host) => {
      const reading = hosts.length === 1 ? context : contextOfOne(host, context);
      return host === own
        ? outcomeOf(read(host, reading))
        : outcomeOfForeign(source, host, reading, (foreign) => read(host, foreign));
    }),
  );
  const faults = outcomes.flatMap((outcome) => (outcome instanceof UpstreamError ? [outcome] : []));
  const reads = outcomes.flatMap((outcome) => (outcome instanceof UpstreamError ? [] : [outcome]));
  const [fault] = faults;
  if (fault && outcomes.length === 1) throw fault;
  // The lane reads its wait from the error that a read throws. But the error of the configured server becomes a warning
  // or a part of another error, so its wait is passed to the lane here.
  const ownFault = faults.find(({ reach }) => reach === 'upstream');
  if (ownFault && ownFault.waitMs > 0)
    context.http.holdOff({ waitMs: ownFault.waitMs, reason: ownFault.message });
  if (fault && reads.length === 0) throw allFailed(source, fault, faults);
  outcomes.forEach((outcome, n) => {
    if (outcome instanceof UpstreamError) noteOutage(hosts[n] ?? '', context);
  });
  return merged([...reads, { items: [], gap: false, warnings: faults.map(({ message }) => message) }]);
}

/** Returns the context for one of several servers. */
function contextOfOne(host: string, context: FetchContext): FetchContext {
  const since = sinceAt(host, context);
  // An item that was seen on one server does not show how far another server was read.
  return { ...context, ...(since && { since }), known: () => false };
}

function outcomeOf(reading: Promise<Fetched>): Promise<Fetched | UpstreamError> {
  return reading.catch((error: unknown) => {
    if (error instanceof UpstreamError) return error;
    throw error;
  });
}

async function outcomeOfForeign(
  source: SourceId,
  host: string,
  context: FetchContext,
  read: (context: FetchContext) => Promise<Fetched>,
): Promise<Fetched | UpstreamError> {
  const server = new NamedServerClient(source, host, context);
  const outcome = await outcomeOf(read(server.reading));
  if (!(outcome instanceof UpstreamError)) return outcome;
  server.noteFault(outcome);
  const { kind, message, statusCode, retryAfterMs } = outcome;
  return new UpstreamError(kind, `${source} on ${host}: ${message}`, statusCode, retryAfterMs, 'search');
}

function allFailed(source: SourceId, first: UpstreamError, faults: readonly UpstreamError[]): UpstreamError {
  const reasons = faults.map(({ message }) => message).join('; ');
  const waits = faults.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  return new UpstreamError(
    first.kind,
    `none of the ${faults.length} servers of ${source} could be read: ${reasons}`,
    first.statusCode,
    waits.length === 0 ? undefined : Math.max(...waits),
    'search',
  );
}
