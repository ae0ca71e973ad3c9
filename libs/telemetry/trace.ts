import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** What ties log lines and messages of one piece of work together. */
export interface Trace {
  /** 32 hexadecimal characters, as in W3C Trace Context. */
  traceId: string;
  /** 16 hexadecimal characters: the step that caused this one. */
  spanId: string;
  /** The `X-Request-Id` of the request it began with, where it began with one. */
  requestId?: string;
}

const storage = new AsyncLocalStorage<Trace>();

/** The trace of the work that is running, if any. */
export function currentTrace(): Trace | undefined {
  return storage.getStore();
}

/** Runs the work within the trace. */
export function withTrace<T>(trace: Trace, work: () => T): T {
  return storage.run(trace, work);
}

/** A trace that continues `traceparent` (W3C Trace Context, https://www.w3.org/TR/trace-context/) or begins anew. */
export function traceFrom(traceparent: string | undefined, requestId?: string): Trace {
  const match = traceparent?.match(/^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/);
  return {
    traceId: match?.[1] ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** The header value that hands the trace on. */
export function traceparentOf(trace: Trace): string {
  return `00-${trace.traceId}-${trace.spanId}-01`;
}
