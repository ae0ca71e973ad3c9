import { randomBytes } from 'node:crypto';
import {
  context,
  createContextKey,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseTraceParent } from '@opentelemetry/core';
import { tracer } from './tracing.js';

export { SpanKind, type Span } from '@opentelemetry/api';

/** What ties log lines and messages of one piece of work together. */
export interface Trace {
  /** 32 hexadecimal characters, as in W3C Trace Context. */
  traceId: string;
  /** 16 hexadecimal characters: the step that caused this one. */
  spanId: string;
  /** True: the spans of the trace are recorded. */
  sampled: boolean;
  /** The `X-Request-Id` of the request it began with, where it began with one. */
  requestId?: string;
}

/** How a piece of work arrived. */
export interface Arrival {
  /** W3C Trace Context of the sender (https://www.w3.org/TR/trace-context/); without it a trace begins. */
  traceparent?: string | undefined;
  requestId?: string | undefined;
  /** `traceparent` of every message of a batch: those of other traces become links. */
  batch?: readonly (string | undefined)[];
  attributes?: Attributes;
}

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const REQUEST_ID = createContextKey('earshot request id');

/** The trace of the work that is running, if any. */
export function currentTrace(): Trace | undefined {
  const active = context.active();
  const span = trace.getSpanContext(active);
  if (!span) return undefined;
  const requestId = active.getValue(REQUEST_ID) as string | undefined;
  const { traceId, spanId } = span;
  return { traceId, spanId, sampled: isSampled(span), ...(requestId !== undefined && { requestId }) };
}

/** Runs the work within the trace. */
export function withTrace<T>({ traceId, spanId, sampled, requestId }: Trace, work: () => T): T {
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const within = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags });
  return context.with(withRequestId(within, requestId), work);
}

/** A trace that continues `traceparent` or begins anew. */
export function traceFrom(traceparent: string | undefined, requestId?: string): Trace {
  const sender = parse(traceparent);
  return {
    traceId: sender?.traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    sampled: isSampled(sender),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** The header value that hands the trace on. */
export function traceparentOf({ traceId, spanId, sampled }: Trace): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Starts the span of work that arrived: a request, a command, a batch. It is the caller who ends it. */
export function arrive<T>(
  name: string,
  kind: SpanKind,
  { traceparent, requestId, batch = [], attributes = {} }: Arrival,
  work: (span: Span) => T,
): T {
  const sender = parse(traceparent);
  const parent = sender ? trace.setSpanContext(ROOT_CONTEXT, sender) : ROOT_CONTEXT;
  const links = sender && isSampled(sender) && batch.length > 1 ? linksOf(batch, sender) : [];
  const span = tracer().startSpan(name, { kind, attributes, links }, parent);
  return context.with(withRequestId(trace.setSpan(parent, span), requestId), () => work(span));
}

/** As `arrive`; the span ends with the work, and has its error. */
export function arriveWith<T>(
  name: string,
  kind: SpanKind,
  arrival: Arrival,
  work: () => Promise<T>,
): Promise<T> {
  return arrive(name, kind, arrival, (span) => endedBy(span, work));
}

/** Records a step of the running work as a span, if its trace is recorded. */
export function inSpan<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  const span = beginSpan(name, kind, attributes);
  return span ? context.with(trace.setSpan(context.active(), span), () => endedBy(span, work)) : work();
}

/** @returns undefined where the running work's trace is not recorded */
export function beginSpan(name: string, kind: SpanKind, attributes: Attributes): Span | undefined {
  const active = context.active();
  if (!isSampled(trace.getSpanContext(active))) return undefined;
  return tracer().startSpan(name, { kind, attributes }, active);
}

/** Ends a span. @param error of the work, where it failed: its class is recorded, its text is not (it may have values) */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  }
  span.end();
}

/** Runs later work, begun by another's event, within the trace that was running when this was called. */
export function keepTrace(): <T>(work: () => T) => T {
  const kept = context.active();
  return (work) => context.with(kept, work);
}

async function endedBy<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    endSpan(span);
    return result;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** One link for each other step that the batch came from. */
function linksOf(batch: readonly (string | undefined)[], parent: SpanContext) {
  const others = new Set(batch.filter((one) => one !== undefined));
  return [...others].flatMap((one) => {
    const linked = parse(one);
    return linked && linked.spanId !== parent.spanId ? [{ context: linked }] : [];
  });
}

function parse(traceparent: string | undefined): SpanContext | undefined {
  return (traceparent && parseTraceParent(traceparent)) || undefined;
}

function isSampled(span: SpanContext | undefined): boolean {
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0;
}

function withRequestId(within: Context, requestId: string | undefined): Context {
  return requestId === undefined ? within : within.setValue(REQUEST_ID, requestId);
}
