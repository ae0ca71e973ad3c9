import { OutboundError, type OutboundHttp, type OutboundResponse, rerouteTo } from '#http-out';
import { systemClock, type Clock } from '#kernel';
import type { SourceId } from '#contracts';
import { parseJson } from './json-answer.js';
import { UpstreamError, type UpstreamHttp, type UpstreamRequest, type UpstreamResponse } from '../source.js';
import { statusError } from './status-error.js';

/** Callbacks of the lane for each request. */
export interface UpstreamBudget {
  /** Resolves when the request can be sent; rejects if it must not be sent. */
  before(request: UpstreamRequest): Promise<void>;
  /**
   * Called once for each sent request. If there was no complete response, or the response was too large, the status is
   * 0 and the headers are empty.
   */
  after(answer: { status: number; headers: Record<string, string> }, request: UpstreamRequest): void;
  /** Called when the upstream has asked Earshot to wait: see `UpstreamHttp.holdOff`. */
  holdOff?(wait: { waitMs: number; reason: string; quota?: string }): void;
}

/** The options of a source's HTTP client. */
export interface UpstreamHttpOptions {
  source: SourceId;
  http: OutboundHttp;
  /** `SOURCE_<ID>_URL`: its scheme, host and port replace the scheme, host and port of every request. */
  baseUrl?: string | undefined;
  /** The settings that the error names if the upstream refuses our credentials. */
  settings?: readonly string[];
  budget?: (source: SourceId) => UpstreamBudget;
  clock?: Clock;
  /** For one request with its redirects. Default 20 s. */
  deadlineMs?: number;
  /** Maximum number of decoded bytes of one response. Default 16 MiB. */
  maxBytes?: number;
}

const DEADLINE_MS = 20_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Creates the HTTP client of a source: see `UpstreamHttp` for its errors. */
export function createUpstreamHttp(options: UpstreamHttpOptions): UpstreamHttp {
  return new SourceUpstreamHttp(options);
}

class SourceUpstreamHttp implements UpstreamHttp {
  private readonly reroute: ((url: string) => string) | undefined;
  private readonly budget: UpstreamBudget | undefined;
  private readonly clock: Clock;

  constructor(private readonly options: UpstreamHttpOptions) {
    this.reroute = options.baseUrl === undefined ? undefined : rerouteTo(options.baseUrl);
    this.budget = options.budget?.(options.source);
    this.clock = options.clock ?? systemClock;
  }

  async request(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { source, settings = [] } = this.options;
    const answer = await this.send(request);
    const { status, headers, bytes } = answer;
    if ((status < 200 || status > 299) && !request.accept?.includes(status)) {
      throw statusError(source, settings, status, headers, this.clock.now());
    }
    return {
      ...answer,
      // A getter, because connectors of feeds decode the bytes themselves and never need the text.
      get text() {
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
      },
    };
  }

  async json(request: UpstreamRequest): Promise<{ body: unknown; response: UpstreamResponse }> {
    const response = await this.request({
      ...request,
      headers: { accept: 'application/json', ...request.headers },
    });
    return { body: parseJson(this.options.source, response.text, response.status), response };
  }

  holdOff(wait: { waitMs: number; reason: string; quota?: string }): void {
    this.budget?.holdOff?.(wait);
  }

  private async send(request: UpstreamRequest): Promise<OutboundResponse> {
    await this.budget?.before(request);
    let outcome: { status: number; headers: Record<string, string> } = { status: 0, headers: {} };
    try {
      const answer = await this.options.http.request({
        method: request.method ?? 'GET',
        url: request.url,
        headers: { 'accept-encoding': 'gzip, deflate, br', ...request.headers },
        ...(request.body !== undefined && { body: request.body }),
        deadlineMs: request.deadlineMs ?? this.options.deadlineMs ?? DEADLINE_MS,
        maxBytes: request.maxBytes ?? this.options.maxBytes ?? MAX_BYTES,
        redirects: request.redirects ?? 'none',
        ...(this.reroute && { reroute: this.reroute, trusted: true }),
      });
      outcome = answer;
      return answer;
    } catch (error) {
      throw error instanceof OutboundError ? outboundFault(this.options.source, error) : error;
    } finally {
      this.budget?.after({ status: outcome.status, headers: outcome.headers }, request);
    }
  }
}

function outboundFault(source: SourceId, error: OutboundError): UpstreamError {
  const reason = `${source} could not be read: ${error.message}`;
  switch (error.kind) {
    case 'blocked':
    case 'timeout':
    case 'network':
    case 'too_large':
      return new UpstreamError(error.kind, reason);
    case 'redirect':
    case 'invalid_url':
      return new UpstreamError('unexpected_status', reason);
  }
}
