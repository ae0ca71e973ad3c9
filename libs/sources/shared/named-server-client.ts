import type { SourceId } from '#contracts';
import { readRateHeaders } from '#http-out';
import { sessionCache } from './session-cache.js';
import { UpstreamError, type FetchContext, type UpstreamHttp, type UpstreamRequest } from '../source.js';

const SERVERS_KEPT = 5_000;
/** Maximum size of a response: several times the size of a page of posts. A larger response could block the process. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * A server that is named in searches and is not the configured one. If it asks Earshot to wait, no search of this source
 * in this process sends it requests during this time. Requests to other servers continue.
 */
export class NamedServerClient {
  constructor(
    private readonly source: SourceId,
    private readonly host: string,
    private readonly context: FetchContext,
  ) {}

  /** The context for reads of this server. In this context, the lane ignores the server's requests to wait. */
  get reading(): FetchContext {
    return { ...this.context, http: this.http };
  }

  /** Stores the wait that a fault asks for. The wait begins now. */
  noteFault(fault: UpstreamError): void {
    this.storeWait(fault.waitMs);
  }

  private get http(): UpstreamHttp {
    const { http } = this.context;
    const marked = (request: UpstreamRequest): UpstreamRequest => ({
      maxBytes: MAX_BYTES,
      ...request,
      foreign: true,
    });
    return {
      request: async (request) => {
        this.refuseWaiting();
        const response = await http.request(marked(request));
        this.noteHeaders(response.headers);
        return response;
      },
      json: async (request) => {
        this.refuseWaiting();
        const answer = await http.json(marked(request));
        this.noteHeaders(answer.response.headers);
        return answer;
      },
      holdOff: ({ waitMs }) => this.storeWait(waitMs),
    };
  }

  private refuseWaiting(): void {
    const waitMs = (this.waits.get(this.host) ?? 0) - performance.now();
    if (waitMs <= 0) return;
    const reason = `it asked Earshot to wait; its next request is in ${Math.ceil(waitMs / 1000)} s`;
    throw new UpstreamError('rate_limited', reason, 0, waitMs);
  }

  private noteHeaders(headers: Record<string, string>): void {
    this.storeWait(readRateHeaders(headers, this.context.now).retryAfterMs ?? 0);
  }

  private storeWait(waitMs: number): void {
    if (waitMs <= 0) return;
    const until = performance.now() + waitMs;
    this.waits.set(this.host, Math.max(until, this.waits.get(this.host) ?? 0));
  }

  /** The end of each server's wait, by the clock of this process. */
  private get waits() {
    return sessionCache<number>(this.context, `${this.source}.waits`, SERVERS_KEPT);
  }
}
