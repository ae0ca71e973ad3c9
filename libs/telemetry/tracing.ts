import type { Tracer } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

/** The settings of tracing. */
export interface TracingSettings {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_TRACES_SAMPLER: string;
  OTEL_TRACES_SAMPLER_ARG: number;
}

const EXPORT_WITHIN_MS = 5000;
const FLUSH_WITHIN_MS = 1000;

/** Until tracing is started, traces have their ids and no span is recorded. */
let provider = new TracerProvider({ sampler: new AlwaysOffSampler() });
let started = false;

/** Makes the spans of this process. */
export function tracer(): Tracer {
  return provider.getTracer('earshot');
}

/**
 * Begins to trace this process; later calls change nothing. Without an endpoint, traces have their ids and no span is
 * recorded.
 * @param service the name under which its spans are shown
 */
export function startTracing(service: string, settings: TracingSettings, log: Logger): void {
  if (started) return;
  started = true;
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === '') return;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_WITHIN_MS,
  });
  provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'earshot' }),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  reportOnce(endpoint, log);
}

/** Sends what is not sent yet, for a second at most. Never throws. */
export async function stopTracing(): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, FLUSH_WITHIN_MS).unref());
  await Promise.race([provider.shutdown().catch(() => undefined), timeout]);
}

/** A collector that is down must not fill the log. */
function reportOnce(endpoint: string, log: Logger): void {
  let reported = false;
  setGlobalErrorHandler((error) => {
    if (reported) return;
    reported = true;
    log.warn(
      { err: error, endpoint },
      'spans could not be exported and are lost; further failures are not logged',
    );
  });
}

function samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: TracingSettings): Sampler {
  switch (OTEL_TRACES_SAMPLER) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    default:
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(OTEL_TRACES_SAMPLER_ARG) });
  }
}
