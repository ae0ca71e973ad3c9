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
  type Link,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseTraceParent } from '@opentelemetry/core';
import { tracer } from './tracing.js';

export { SpanKind, type Span } from '@opentelemetry/api';

// A step of a trace is named by its `traceparent` (https://www.w3.org/TR/trace-context/): in headers, tables and between
// functions.

/** The trace of the running work, for log lines. */
export interface Trace {
  /** 32 hexadecimal characters. */
  traceId: string;
  /** The `X-Request-Id` of the request that the work began with, where it began with one. */
  requestId?: string;
}

/** How a piece of work arrived. */
export interface Arrival {
  /** The step that caused the work; its trace goes on. Without it a trace begins. */
  traceparent?: string | undefined;
  /** A step of a caller who is not trusted: the span has a link to it, and nothing else depends on it. */
  caller?: string | undefined;
  requestId?: string | undefined;
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
  return { traceId: span.traceId, ...(requestId !== undefined && { requestId }) };
}

/** The step that is running, for what follows from it; undefined outside of a trace. */
export function currentTraceparent(): string | undefined {
  const span = trace.getSpanContext(context.active());
  return span && traceparentOf(span);
}

/** True: the step belongs to a trace that is recorded. */
export function isRecorded(traceparent: string | undefined): boolean {
  // Nearly all end like this: no need to read the rest.
  return traceparent !== undefined && !traceparent.endsWith('-00') && isSampled(parse(traceparent));
}

/** True: the running work belongs to a trace that is recorded. */
export function isTraced(): boolean {
  return isSampled(trace.getSpanContext(context.active()));
}

/**
 * Runs work that follows from a step, which may be another one than the running one; undefined: from none. Where neither is
 * recorded it only calls the function.
 */
export function continueTrace<T>(traceparent: string | undefined, work: () => T): T {
  const active = context.active();
  if (!isRecorded(traceparent) && !isTraced()) return work();
  return context.with(withRequestId(contextOf(parse(traceparent)), requestIdOf(active)), work);
}

/** Starts the span of work that arrived, a request or a command. The caller ends it. */
export function arrive<T>(
  name: string,
  kind: SpanKind,
  { traceparent, caller, requestId, attributes = {} }: Arrival,
  work: (span: Span) => T,
): T {
  const parent = contextOf(parse(traceparent));
  const span = tracer().startSpan(name, { kind, attributes, links: linksTo(caller) }, parent);
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

/**
 * Starts the span of a step that follows from the running work, or from the given step.
 * @returns undefined where the trace is not recorded
 */
export function beginSpan(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  traceparent?: string,
): Span | undefined {
  if (!(traceparent === undefined ? isTraced() : isRecorded(traceparent))) return undefined;
  const parent = traceparent === undefined ? context.active() : contextOf(parse(traceparent));
  return tracer().startSpan(name, { kind, attributes }, parent);
}

/** The step that a span is. */
export function stepOf(span: Span): string {
  return traceparentOf(span.spanContext());
}

/** Ends a span. @param error of the work, where it failed: its class is recorded, its text is not (it may have values) */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  }
  span.end();
}

/** Runs work whose span ends with it. */
export async function endedBy<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    endSpan(span);
    return result;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** The context of a span that follows from a step. */
export function contextOf(step: SpanContext | undefined): Context {
  return step ? trace.setSpanContext(ROOT_CONTEXT, step) : ROOT_CONTEXT;
}

/** @returns undefined for what is no valid `traceparent` */
export function parse(traceparent: string | undefined): SpanContext | undefined {
  return (traceparent && parseTraceParent(traceparent)) || undefined;
}

/** Links to steps; what is no valid `traceparent` is left out. */
export function linksTo(...steps: readonly (string | undefined)[]): Link[] {
  return steps.flatMap((one) => {
    const linked = parse(one);
    return linked ? [{ context: linked }] : [];
  });
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`;
}

function isSampled(span: SpanContext | undefined): boolean {
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0;
}

function requestIdOf(from: Context): string | undefined {
  return from.getValue(REQUEST_ID) as string | undefined;
}

function withRequestId(within: Context, requestId: string | undefined): Context {
  return requestId === undefined ? within : within.setValue(REQUEST_ID, requestId);
}
