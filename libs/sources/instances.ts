import type { Criteria, SourceId } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfTexts, filterTexts } from './filters.js';
import { merged } from './paging.js';
import { UpstreamError, type Fetched } from './source.js';

// For sources that are a network of many servers (Mastodon, Lemmy).

const MAX_INSTANCES = 5;
// A name with a dot that does not end in a number: no address, no machine of this network.
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/;

/** The host of `lamps.example` or `https://lamps.example/`, in lower case; undefined for anything else. */
export function hostOf(text: string): string | undefined {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, host, username, pathname, search, hash } = new URL(address);
  const bare = host === hostname && username === '' && pathname === '/' && search === '' && hash === '';
  return bare && HOST_NAME.test(hostname) ? hostname : undefined;
}

/** The host that a setting names, or `otherwise` where it is empty. Throws an `Error` that names the setting. */
export function hostOfSetting(setting: string, value: string, otherwise: string): string {
  if (value.trim() === '') return otherwise;
  const host = hostOf(value.trim());
  if (host === undefined)
    throw new Error(`${setting} must be the name of a server, for example ${otherwise}`);
  return host;
}

/** The servers that a search names (`filters.instances`), each once; empty where it leaves that to the setting. */
export function instancesOf(criteria: Criteria): string[] {
  return [...new Set(filterTexts(criteria, 'instances').flatMap((text) => hostOf(text) ?? []))];
}

/** Faults of `filters.instances`. */
export function instanceFaults(criteria: Criteria, example: string): Fault[] {
  return faultsOfTexts(criteria, {
    key: 'instances',
    wanted: `a list of 1 to ${MAX_INSTANCES} servers, for example "${example}"`,
    valid: (text) => hostOf(text) !== undefined,
    most: MAX_INSTANCES,
  });
}

/**
 * Reads several servers as one. One that fails is a warning; when all do, that is the fault. A server that only the
 * search names is no reason for the others to wait: its fault is marked so.
 */
export async function readInstances(
  source: SourceId,
  hosts: readonly string[],
  own: string,
  read: (host: string) => Promise<Fetched>,
): Promise<Fetched> {
  const outcomes = await Promise.all(hosts.map((host) => outcomeOf(source, host, own, read(host))));
  const faults = outcomes.flatMap((outcome) => (outcome instanceof UpstreamError ? [outcome] : []));
  const reads = outcomes.flatMap((outcome) => (outcome instanceof UpstreamError ? [] : [outcome]));
  const [fault] = faults;
  if (fault && reads.length === 0) throw faults.length === 1 ? fault : allFailed(source, fault, faults);
  return merged([...reads, { items: [], gap: false, warnings: faults.map(({ message }) => message) }]);
}

function outcomeOf(
  source: SourceId,
  host: string,
  own: string,
  reading: Promise<Fetched>,
): Promise<Fetched | UpstreamError> {
  return reading.catch((error: unknown) => {
    if (!(error instanceof UpstreamError)) throw error;
    if (host === own) return error;
    const { kind, message, statusCode, retryAfterMs } = error;
    return new UpstreamError(kind, `${source} on ${host}: ${message}`, statusCode, retryAfterMs, 'search');
  });
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
