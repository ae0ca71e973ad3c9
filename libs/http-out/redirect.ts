import type { Answer } from './exchange.js';
import { OutboundError } from './outbound-error.js';

/** The request of one hop. */
export interface Hop {
  readonly method: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const PERMANENT = new Set([301, 308]);
// These headers were meant for the original host, not for the host of the redirect.
const FOR_ONE_ORIGIN = new Set(['authorization', 'cookie', 'proxy-authorization']);
const OF_A_BODY = new Set(['content-type', 'content-length', 'content-encoding']);

/** Returns true for the statuses of permanent redirects. */
export function isPermanentRedirect(status: number): boolean {
  return PERMANENT.has(status);
}

/**
 * Returns the next hop that a response demands, or undefined if the response is not a redirect. The URL of
 * this hop is normalised.
 * @throws OutboundError `redirect` if the redirect has no usable target
 */
export function nextHop(hop: Hop, answer: Answer): Hop | undefined {
  if (!REDIRECTS.has(answer.status)) return undefined;
  const from = new URL(hop.url);
  const to = locationOf(answer, from);
  // Browsers change a POST to a GET after 301, 302 and 303, so every method except HEAD becomes GET. 307 and 308 keep
  // the method.
  const keepsBody = answer.status >= 307 || hop.method === 'GET' || hop.method === 'HEAD';
  const dropped = (name: string) =>
    (to.origin !== from.origin && FOR_ONE_ORIGIN.has(name)) || (!keepsBody && OF_A_BODY.has(name));
  const headers = Object.fromEntries(Object.entries(hop.headers ?? {}).filter(([name]) => !dropped(name)));
  return keepsBody ? { ...hop, url: to.href, headers } : { method: 'GET', url: to.href, headers };
}

function locationOf(answer: Answer, from: URL): URL {
  const location = answer.headers.location;
  if (!location) throw new OutboundError('redirect', `${from.host} redirects without a target`);
  try {
    return new URL(location, from);
  } catch {
    throw new OutboundError('redirect', `${from.host} redirects to something that is not an address`);
  }
}
