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

// A step of a trace is a span. Headers, tables and functions identify it by its `traceparent`
// (https://www.w3.org/TR/trace-context/).

/** The trace of the running work. Log lines contain it, and commands pass its request id on. */
export interface Trace {
  /** 32 hexadecimal characters. */
  traceId: string;
  /** The `X-Request-Id` of the request that started the work, if a request did. */
  requestId?: string;
}

/** The origin of a piece of work. */
export interface Arrival {
  /** `traceparent` of the step that caused the work. Its trace continues. Without it, a new trace begins. */
  traceparent?: string | undefined;
  /** `traceparent` of a caller who is not trusted. The span gets a link to this step; the value has no other effect. */
  caller?: string | undefined;
  requestId?: string | undefined;
  attributes?: Attributes;
}

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const REQUEST_ID = createContextKey('earshot request id');

/** Returns the trace of the running work; undefined if there is none. */
export function currentTrace(): Trace | undefined {
  const active = context.active();
  const span = trace.getSpanContext(active);
  if (!span) return undefined;
  const requestId = active.getValue(REQUEST_ID) as string | undefined;
  return { traceId: span.traceId, ...(requestId !== undefined && { requestId }) };
}

/** Returns the `traceparent` of the running step; undefined outside of a trace. */
export function currentTraceparent(): string | undefined {
  const span = trace.getSpanContext(context.active());
  return span && traceparentOf(span);
}

/** Returns whether the step belongs to a recorded trace. */
export function isRecorded(traceparent: string | undefined): boolean {
  // Nearly all values end with -00, and are not parsed.
  return traceparent !== undefined && !traceparent.endsWith('-00') && isSampled(parse(traceparent));
}

/** Returns whether the running work belongs to a recorded trace. */
export function isTraced(): boolean {
  return isSampled(trace.getSpanContext(context.active()));
}

/**
 * Runs work in the trace of the step that caused it. This step can differ from the running step. Without `traceparent`,
 * the work runs outside any trace. If neither step is recorded, nothing changes: the work runs in the current trace.
 */
export function continueTrace<T>(traceparent: string | undefined, work: () => T): T {
  const active = context.active();
  if (!isRecorded(traceparent) && !isTraced()) return work();
  return context.with(withRequestId(contextOf(parse(traceparent)), requestIdOf(active)), work);
}

/**
 * Runs work in a new span that begins or continues a trace: a request, a command, or a turn of a replay. The caller
 * must end the span.
 */
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

/** Runs work like `arrive`, but ends the span when the work ends, and records an error of the work. */
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
 * @returns undefined if the trace is not recorded
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

/** Returns the `traceparent` of a span. */
export function stepOf(span: Span): string {
  return traceparentOf(span.spanContext());
}

/**
 * Ends a span.
 * @param error of failed work: the name of the error is recorded, but not its text, which can contain data of users or
 *   values of parameters
 */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  }
  span.end();
}

/** Runs work, ends the span when the work ends, and records an error of the work. */
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

/** Returns the context in which a span that follows from the step starts; without a step, the root context. */
export function contextOf(step: SpanContext | undefined): Context {
  return step ? trace.setSpanContext(ROOT_CONTEXT, step) : ROOT_CONTEXT;
}

/** Reads a `traceparent`. @returns undefined if the text is not a valid `traceparent` */
export function parse(traceparent: string | undefined): SpanContext | undefined {
  return (traceparent && parseTraceParent(traceparent)) || undefined;
}

/** Returns links to steps. Invalid `traceparent` values are left out. */
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
