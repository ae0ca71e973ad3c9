import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

/** Logs one line when spans can no longer be exported, and one line when they can be exported again. */
export class ReportingExporter implements SpanExporter {
  private lost = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly collector: string,
    private readonly log: Logger,
  ) {}

  export(spans: ReadableSpan[], callback: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.succeeded();
      else this.failed(spans.length, result.error);
      callback(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private succeeded(): void {
    if (this.lost > 0)
      this.log.info({ collector: this.collector, lostSpans: this.lost }, 'spans are exported again');
    this.lost = 0;
  }

  private failed(spans: number, error: Error | undefined): void {
    if (this.lost === 0)
      this.log.warn(
        { collector: this.collector, reason: reasonOf(error) },
        'spans cannot be exported and are lost; another line is logged when they can be exported again',
      );
    this.lost += spans;
  }
}

/** Returns a short text about the error. The error itself contains the collector's response, which can be long. */
function reasonOf(error: (Error & { code?: string | number }) | undefined): string {
  if (!error) return 'unknown';
  const code = error.code === undefined ? '' : ` (${error.code})`;
  return `${error.message || error.name}${code}`;
}
