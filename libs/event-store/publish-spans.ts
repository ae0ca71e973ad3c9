import { streamOf } from '#messaging';
import { beginSpan, currentTraceparent, endSpan, SpanKind, stepOf, type Span } from '#telemetry';
import type { Unstored } from './publish-window.js';

/** The spans of messages that are published together: one for each `cause` of messages whose trace is recorded. */
export class PublishSpans {
  private readonly current = currentTraceparent();
  private readonly spans = new Map<string | undefined, Span | undefined>();

  constructor(messages: readonly Unstored[]) {
    // All messages go to the same stream.
    const stream = streamOf(messages[0]?.subject ?? '');
    const attributes = publishAttributes(stream);
    for (const { cause } of messages)
      if (!this.spans.has(cause))
        this.spans.set(cause, beginSpan(`publish ${stream}`, SpanKind.PRODUCER, attributes, cause));
  }

  /** Returns the `traceparent` header of a message. */
  stepOf({ cause }: Unstored): string | undefined {
    const span = this.spans.get(cause);
    return span ? stepOf(span) : (cause ?? this.current);
  }

  end(error?: unknown): void {
    for (const span of this.spans.values()) if (span) endSpan(span, error);
  }
}

/** Attributes of a publishing span that describe the stream. */
export function publishAttributes(stream: string): Record<string, string> {
  return {
    'messaging.system': 'nats',
    'messaging.destination.name': stream,
    'messaging.operation.type': 'send',
  };
}
