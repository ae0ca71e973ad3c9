import { createContextKey, type Context, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SamplingResult,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { ReportingExporter } from './reporting-exporter.js';

/** The settings of tracing. */
export interface TracingSettings {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_TRACES_SAMPLER: string;
  OTEL_TRACES_SAMPLER_ARG: number;
}

const EXPORT_WITHIN_MS = 5000;
const FLUSH_WITHIN_MS = 1000;
/**
 * Maximum number of links of a span: at least the size of the largest batch of a consumer, because each message of a
 * batch can have another trace.
 */
const MAX_LINKS = 2000;

/** Context key of a new trace: whether it is recorded. The samplers `always_on` and `always_off` ignore the key. */
export const RECORDED = createContextKey('earshot trace is recorded');

/** Before tracing starts, traces have ids and no span is recorded. */
const off = new TracerProvider({ sampler: new AlwaysOffSampler() });
let provider = off;
let current = off.getTracer('earshot');

/** Returns the tracer of this process. */
export function tracer(): Tracer {
  return current;
}

/**
 * Starts tracing in this process; further calls change nothing until `stopTracing`. Without an endpoint, traces have
 * ids and no span is recorded.
 * @param service the name under which its spans are shown
 */
export function startTracing(service: string, settings: TracingSettings, log: Logger): void {
  if (provider !== off || settings.OTEL_EXPORTER_OTLP_ENDPOINT === '') return;
  provider = exportingProvider(service, settings, log);
  current = provider.getTracer('earshot');
}

/** Stops recording, and sends the remaining spans within at most one second. Never throws. */
export async function stopTracing(): Promise<void> {
  const stopping = provider;
  provider = off;
  current = off.getTracer('earshot');
  if (stopping !== off) await stopWithin(stopping, FLUSH_WITHIN_MS);
}

/** Stops a provider, and waits at most this time until it has sent the remaining spans. Never throws. */
export async function stopWithin(stopping: TracerProvider, ms: number): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, ms).unref());
  await Promise.race([stopping.shutdown().catch(() => undefined), timeout]);
}

/** Makes spans and exports them to the endpoint. At most 2,048 spans wait in memory; further spans are lost. */
export function exportingProvider(service: string, settings: TracingSettings, log: Logger): TracerProvider {
  const url = `${settings.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_WITHIN_MS });
  return new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'earshot' }),
    sampler: samplerOf(settings),
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new ReportingExporter(exporter, new URL(url).host, log) }),
    ],
  });
}

function samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: TracingSettings): Sampler {
  switch (OTEL_TRACES_SAMPLER) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    default:
      return new ParentBasedSampler({ root: new RootSampler(OTEL_TRACES_SAMPLER_ARG) });
  }
}

/**
 * Records a new trace if `RECORDED` in the context is true, and does not record it if `RECORDED` is false. Without
 * `RECORDED`, a share of the new traces is recorded.
 */
class RootSampler implements Sampler {
  private readonly share: Sampler;

  constructor(ratio: number) {
    this.share = new TraceIdRatioBasedSampler(ratio);
  }

  shouldSample(...args: Parameters<Sampler['shouldSample']>): SamplingResult {
    const isRecordedByContext = (args[0] as Context).getValue(RECORDED) as boolean | undefined;
    if (isRecordedByContext === undefined) return this.share.shouldSample(...args);
    return {
      decision: isRecordedByContext ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    };
  }
}
