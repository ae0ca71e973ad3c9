import { errors } from 'undici';

/**
 * Why a request has no usable response. `blocked`: the address is not allowed. `timeout`: the deadline passed, or no
 * connection was accepted in time. `network`: DNS, connection, TLS, an invalid response, or a closed client.
 * `too_large`: more decoded bytes than allowed. `redirect`: too many redirects, or one without a usable target.
 * `invalid_url`: not an http(s) address, or an address with a user name, a password or port 0.
 */
export type OutboundErrorKind = 'blocked' | 'timeout' | 'network' | 'too_large' | 'redirect' | 'invalid_url';

/** A failed request. The message is for people: it contains at most the host, never a path, query or header. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly kind: OutboundErrorKind,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Returns the reason in three cases: a host is not allowed, a name has no address, or its lookup failed. The text is
 * the same in all cases, because a person who enters host names must not learn which names exist in the operator's
 * network.
 */
export function notAllowed(host: string): string {
  return `${host}: address not allowed: there is no such name, its lookup got no answer in time, or it leads to a private or reserved address, which the operator can allow with EGRESS_ALLOW`;
}

// Messages for people, by error code of node:dns, node:net, node:tls and undici.
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has no address (no such host)',
  ENODATA: 'has no address (no such host)',
  EAI_AGAIN: 'could not be looked up (the name server does not answer)',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection before the answer was complete',
  EPIPE: 'closed the connection before the answer was complete',
  UND_ERR_SOCKET: 'closed the connection before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'closed the connection before the answer was complete',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'sent headers that are too long',
  UND_ERR_DESTROYED: 'got no request: the service is stopping',
  UND_ERR_CLOSED: 'got no request: the service is stopping',
};

const TIMEOUT_CODES = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** Converts an error of Node or undici to an `OutboundError` that names the host. */
export function toOutboundError(error: unknown, host: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  if (TIMEOUT_CODES.has(code))
    return new OutboundError('timeout', `${host} did not accept a connection in time`);
  // These errors have no code (undici 7.30).
  if (error instanceof errors.HTTPParserError)
    return new OutboundError('network', `${host} did not answer in HTTP`);
  return new OutboundError('network', `${host} ${REASONS[code] ?? otherReason(code)}`);
}

function otherReason(code: string): string {
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME|LEAF_SIGNATURE/.test(code))
    return `has a TLS certificate that is not accepted (${code})`;
  if (/SSL|TLS|EPROTO/.test(code)) return `does not use TLS as expected (${code})`;
  return code ? `could not be reached (${code})` : 'could not be reached';
}

function codeOf(error: unknown): string {
  // With several addresses Node reports one error for each; any of them explains the failure.
  const one = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = one instanceof Error && 'code' in one ? one.code : undefined;
  return typeof code === 'string' ? code : '';
}
