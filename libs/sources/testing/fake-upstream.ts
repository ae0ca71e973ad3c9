import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { CriteriaSchema, type Criteria, type SourceId } from '#contracts';
import { OutboundError, type OutboundHttp, type OutboundRequest } from '#http-out';
import type { FetchContext, UpstreamHttp } from '../source.js';
import { createUpstreamHttp, type UpstreamHttpOptions } from '../shared/upstream-http.js';

// Only for specs: an upstream whose responses come from a function, and a source's real HTTP client, which calls this
// upstream.

/**
 * A response of the fake upstream, or a network error. The default status is 200. An object as `body` is sent as JSON.
 */
export type FakeAnswer =
  | {
      status?: number;
      headers?: Record<string, string>;
      setCookies?: readonly string[];
      body?: string | Uint8Array | object;
      url?: string;
      movedTo?: string;
    }
  | OutboundError;

/** One request to the fake upstream. */
export interface FakeRequest extends OutboundRequest {
  at: URL;
}

/** The current time of a fake upstream, and by default of the reads of a spec. */
export const SPEC_NOW = new Date('2026-03-04T12:00:00.000Z');

/**
 * Returns a source's HTTP client for a fake upstream, the requests that it has sent, and the waits that `holdOff` has
 * got.
 */
export function fakeUpstream(
  source: SourceId,
  answer: (request: FakeRequest) => FakeAnswer,
  options: Partial<UpstreamHttpOptions> = {},
): { http: UpstreamHttp; requests: FakeRequest[]; heldOff: Parameters<UpstreamHttp['holdOff']>[0][] } {
  const requests: FakeRequest[] = [];
  const heldOff: Parameters<UpstreamHttp['holdOff']>[0][] = [];
  const budget = () => ({
    before: () => Promise.resolve(),
    after: () => undefined,
    holdOff: (wait: (typeof heldOff)[0]) => void heldOff.push(wait),
  });
  const outbound: OutboundHttp = {
    request: (request) => {
      const seen = { ...request, at: new URL(request.url) };
      requests.push(seen);
      const given = answer(seen);
      if (given instanceof OutboundError) return Promise.reject(given);
      return Promise.resolve({
        status: given.status ?? 200,
        headers: given.headers ?? {},
        ...(given.setCookies && { setCookies: given.setCookies }),
        bytes: bytesOf(given.body ?? ''),
        url: given.url ?? request.url,
        ...(given.movedTo !== undefined && { movedTo: given.movedTo }),
      });
    },
    close: () => Promise.resolve(),
  };
  const clock = { now: () => SPEC_NOW };
  const http = createUpstreamHttp({ source, http: outbound, clock, budget, ...options });
  return { http, requests, heldOff };
}

/** Returns the context of one read; by default `shared` shares nothing. */
export function fakeContext(http: UpstreamHttp, more: Partial<FetchContext> = {}): FetchContext {
  return {
    http,
    match: 'word',
    now: SPEC_NOW,
    pageCap: 5,
    known: () => false,
    state: {},
    shared: (_, read) => read(),
    session: new Map(),
    ...more,
  };
}

/** Returns criteria of a search. */
export function criteriaOf(init: MessageInitShape<typeof CriteriaSchema>): Criteria {
  return create(CriteriaSchema, init);
}

function bytesOf(body: string | Uint8Array | object): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
