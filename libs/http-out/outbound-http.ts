import { createAddressPolicy } from './address-policy.js';
import { exchange, type Answer, type AnswerCallback } from './exchange.js';
import { createGuardedConnector, createTrustedConnector } from './guarded-connect.js';
import { notAllowed, OutboundError, toOutboundError } from './outbound-error.js';
import { Pools } from './pools.js';
import { isPermanentRedirect, nextHop, type Hop } from './redirect.js';
import { createResolve, type Resolve } from './resolve.js';
import { createTargetReader, type Target } from './target.js';

/** Options of the outbound HTTP client. */
export interface OutboundHttpOptions {
  /** CIDRs that are allowed although they are private (`parseEgressAllow`). */
  allow: readonly string[];
  /** Sent if a request sets no `user-agent`. */
  userAgent: string;
  /** Maximum number of connections to one scheme, host and port; further requests wait. Default 16. */
  connectionsPerOrigin?: number;
  /** Returns all addresses of a host name; default: `createResolve`. */
  resolve?: Resolve;
}

/** One request. */
export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  url: string;
  /** Lower-case names. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The time limit for everything together: waiting for a connection, DNS, connecting, headers, body, redirects. */
  deadlineMs: number;
  /** Maximum number of decoded bytes of the response. */
  maxBytes: number;
  /** What to do with a longer response: `error` (`too_large`, the default), or `cut` to `maxBytes`. */
  overflow?: 'cut' | 'error';
  /**
   * `follow`: at most 5 redirects are followed, and each address is checked. `none`: a redirect is returned unchanged.
   */
  redirects: 'none' | 'follow';
  /**
   * True if the operator configured this address: its host is not checked. Redirects to another scheme, host or port
   * are checked, unless `reroute` replaces their addresses.
   */
  trusted?: boolean;
  /**
   * Rewrites the address of each hop just before it is sent (an operator's proxy). Responses keep the original address.
   */
  reroute?: (url: string) => string;
}

/** One response with any status. */
export interface OutboundResponse {
  status: number;
  /** Lower-case names; repeated headers are joined with commas. */
  headers: Record<string, string>;
  /** Each `Set-Cookie` of the last response separately; absent if there was none. */
  setCookies?: readonly string[];
  /** Decoded body. */
  bytes: Uint8Array;
  /** Address of the last request, after redirects and before `reroute`. */
  url: string;
  /** The address after the leading permanent redirects (301, 308), if there were any. */
  movedTo?: string;
}

/** One request without redirects, for callers that send thousands per second. */
export interface OutboundDispatch extends Pick<
  OutboundRequest,
  'method' | 'url' | 'body' | 'deadlineMs' | 'maxBytes' | 'overflow'
> {
  /** Alternating lower-case names and values, without `user-agent`, which the client adds. */
  headers: readonly string[];
}

/** The client for HTTP requests to upstreams, webhooks, channels and models. Rejects only with `OutboundError`. */
export interface OutboundHttp {
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Closes the client without waiting: running requests fail. */
  close(): Promise<void>;
}

/** The client for outbound HTTP, which also supports callbacks instead of promises. */
export interface OutboundDispatcher extends OutboundHttp {
  /**
   * Sends a request like `request` with `redirects: 'none'`.
   * @param callback called once, with an error or a response; possibly before `dispatch` returns
   */
  dispatch(request: OutboundDispatch, callback: AnswerCallback): void;
}

const MAX_REDIRECTS = 5;
const DEFAULT_CONNECTIONS_PER_ORIGIN = 16;

/** Creates the guarded client. */
export function createOutboundHttp(options: OutboundHttpOptions): OutboundDispatcher {
  return new GuardedOutboundHttp(options);
}

class GuardedOutboundHttp implements OutboundDispatcher {
  private readonly targetOf: (url: string) => Target;
  private readonly guarded: Pools;
  private readonly trusted: Pools;
  private closed = false;

  constructor(private readonly options: OutboundHttpOptions) {
    const permits = createAddressPolicy(options.allow);
    this.targetOf = createTargetReader(permits);
    const connections = options.connectionsPerOrigin ?? DEFAULT_CONNECTIONS_PER_ORIGIN;
    const resolve = options.resolve ?? createResolve();
    // Separate pools: a connection that was opened for a trusted request must never serve an untrusted one.
    this.guarded = new Pools(createGuardedConnector(permits, resolve), connections);
    this.trusted = new Pools(createTrustedConnector(), connections);
  }

  async request(request: OutboundRequest): Promise<OutboundResponse> {
    if (this.closed) throw stopping();
    if (request.redirects === 'follow') return this.follow(request);
    return {
      ...(await this.send(request, request, request.deadlineMs, request.trusted)),
      url: request.url,
    };
  }

  dispatch(request: OutboundDispatch, callback: AnswerCallback): void {
    if (this.closed) return callback(stopping());
    const headers = ['user-agent', this.options.userAgent, ...request.headers];
    this.begin(request, headers, request, request.deadlineMs, false, callback);
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.guarded.close(), this.trusted.close()]);
  }

  private async follow(request: OutboundRequest): Promise<OutboundResponse> {
    const endsAt = performance.now() + request.deadlineMs;
    const firstOrigin = this.targetOf(request.url).origin;
    let hop: Hop = request;
    let movedTo: string | undefined;
    let permanentSoFar = true;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      // Only the scheme, host and port that the operator configured are trusted, not the targets of redirects. With
      // `reroute`, each request goes to the operator's proxy.
      const trusted = request.trusted && (request.reroute || this.targetOf(hop.url).origin === firstOrigin);
      const answer = await this.send(hop, request, Math.max(1, endsAt - performance.now()), Boolean(trusted));
      const next = nextHop(hop, answer);
      if (!next) {
        return { ...answer, url: hop.url, ...(movedTo !== undefined && { movedTo }) };
      }
      permanentSoFar &&= isPermanentRedirect(answer.status);
      if (permanentSoFar) movedTo = next.url;
      hop = next;
    }
    const { host } = this.targetOf(request.url);
    throw new OutboundError('redirect', `${host} redirects more than ${MAX_REDIRECTS} times`);
  }

  private send(hop: Hop, request: OutboundRequest, remainingMs: number, trusted = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // `reroute` gets only valid addresses, so that it throws no other error.
      if (request.reroute) this.targetOf(hop.url);
      const sent = request.reroute ? { ...hop, url: request.reroute(hop.url) } : hop;
      this.begin(sent, this.headersOf(hop.headers), request, remainingMs, trusted, (error, answer) => {
        if (answer) resolve(answer);
        else reject(error ?? new Error('neither a response nor an error'));
      });
    });
  }

  private begin(
    { url, method, body }: Pick<Hop, 'url' | 'method' | 'body'>,
    headers: string[] | Record<string, string>,
    {
      deadlineMs,
      maxBytes,
      overflow = 'error',
    }: Pick<OutboundRequest, 'deadlineMs' | 'maxBytes' | 'overflow'>,
    remainingMs: number,
    trusted: boolean,
    callback: AnswerCallback,
  ): void {
    let target: Target;
    try {
      target = this.targetOf(url);
    } catch (error) {
      return callback(toOutboundError(error, ''));
    }
    if (target.blocked && !trusted) return callback(new OutboundError('blocked', notAllowed(target.host)));
    const pools = trusted ? this.trusted : this.guarded;
    exchange(
      pools.of(target.origin),
      { path: target.path, method, headers, body: body as string | Buffer | undefined },
      { host: target.host, remainingMs, deadlineMs, maxBytes, overflow },
      callback,
    );
  }

  private headersOf(headers: Record<string, string> | undefined): Record<string, string> {
    if (headers?.['user-agent'] !== undefined) return headers;
    return { 'user-agent': this.options.userAgent, ...headers };
  }
}

function stopping(): OutboundError {
  return new OutboundError('network', 'no further requests are sent: the service is stopping');
}
