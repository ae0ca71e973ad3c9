import { createAddressPolicy, type AddressPolicy } from './address-policy.js';
import { exchange, type Answer, type AnswerCallback } from './exchange.js';
import {
  createGuardedConnector,
  createTrustedConnector,
  systemResolve,
  type Resolve,
} from './guarded-connect.js';
import { OutboundError, toOutboundError } from './outbound-error.js';
import { Pools } from './pools.js';
import { isPermanentRedirect, nextHop, type Hop } from './redirect.js';
import { checkLiteral, createTargetReader, type Target } from './target.js';

/** Settings of the outbound door. */
export interface OutboundHttpOptions {
  /** CIDRs that may be reached although private (`parseEgressAllow`). */
  allow: readonly string[];
  /** Sent when a request sets no `user-agent`. */
  userAgent: string;
  /** Connections to one scheme, host and port at a time; more requests wait. Default 16. */
  connectionsPerOrigin?: number;
  /** All addresses of a host name; the machine's own lookup by default. */
  resolve?: Resolve;
}

/** One request. */
export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  url: string;
  /** Lower-case names. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Over everything: waiting for a connection, DNS, connecting, headers, body, redirects. */
  deadlineMs: number;
  /** Decoded bytes of the answer. */
  maxBytes: number;
  /** How to treat a longer answer: `error` (`too_large`, the default), or `cut` to `maxBytes`. */
  overflow?: 'cut' | 'error';
  /** `follow`: up to 5, every hop checked. `none`: a redirect is answered as it came. */
  redirects: 'none' | 'follow';
  /** The operator named this address: its host is not checked. Other hosts that it redirects to are. */
  trusted?: boolean;
  /** Rewrites the address of every hop just before it is sent (an operator's proxy); answers keep the original. */
  reroute?: (url: string) => string;
}

/** One answer, whatever its status. */
export interface OutboundResponse {
  status: number;
  /** Lower-case names; repeated headers are joined with commas. */
  headers: Record<string, string>;
  /** Each `Set-Cookie` of the last answer by itself; absent where there was none. */
  setCookies?: readonly string[];
  /** Decoded. */
  bytes: Uint8Array;
  /** Address of the last request, after redirects and before `reroute`. */
  url: string;
  /** The address after the leading permanent redirects (301, 308), where there were any. */
  movedTo?: string;
}

/** One request without redirects, for those who send thousands a second. */
export interface OutboundDispatch extends Pick<
  OutboundRequest,
  'method' | 'url' | 'body' | 'deadlineMs' | 'maxBytes' | 'overflow'
> {
  /** Names in lower case and values in turn; without `user-agent`, which the door adds. */
  headers: readonly string[];
}

/** The one way out. Rejects with `OutboundError` and nothing else. */
export interface OutboundHttp {
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Waits for nothing: what is still under way fails. */
  close(): Promise<void>;
}

/** The one way out, with a callback in place of a promise as well. */
export interface OutboundDispatcher extends OutboundHttp {
  /**
   * As `request` with `redirects: 'none'`.
   * @param callback called once, with an error or an answer; possibly before `dispatch` returns
   */
  dispatch(request: OutboundDispatch, callback: AnswerCallback): void;
}

const MAX_REDIRECTS = 5;
const DEFAULT_CONNECTIONS_PER_ORIGIN = 16;

/** Opens the guarded door. */
export function createOutboundHttp(options: OutboundHttpOptions): OutboundDispatcher {
  return new GuardedOutboundHttp(options);
}

class GuardedOutboundHttp implements OutboundDispatcher {
  private readonly permits: AddressPolicy;
  private readonly targetOf = createTargetReader();
  private readonly guarded: Pools;
  private readonly trusted: Pools;
  private closed = false;

  constructor(private readonly options: OutboundHttpOptions) {
    this.permits = createAddressPolicy(options.allow);
    const connections = options.connectionsPerOrigin ?? DEFAULT_CONNECTIONS_PER_ORIGIN;
    const resolve = options.resolve ?? systemResolve;
    // Apart from each other: a connection opened on trust must never serve a request that is not trusted.
    this.guarded = new Pools(createGuardedConnector(this.permits, resolve), connections);
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
      // Trust is in the host that the operator named, not in whatever that host points to.
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
    const sent = request.reroute ? { ...hop, url: request.reroute(hop.url) } : hop;
    return new Promise((resolve, reject) => {
      this.begin(sent, this.headersOf(hop.headers), request, remainingMs, trusted, (error, answer) => {
        if (answer) resolve(answer);
        else reject(error ?? new Error('neither an answer nor an error'));
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
      if (!trusted) checkLiteral(target, this.permits);
    } catch (error) {
      return callback(toOutboundError(error, ''));
    }
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
  return new OutboundError('network', 'nothing is sent any more: the service is stopping');
}
