import type { Attributes } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
  type MeterProviderOptions,
} from '@opentelemetry/sdk-metrics';

/**
 * Maximum number of series of one metric. The SDK's default of 2,000 would merge lanes of a large installation into one
 * series.
 */
const MAX_SERIES = 20_000;

/** Reads the metrics when `/metrics` is requested. */
class ScrapeReader extends MetricReader {
  constructor() {
    super({
      // With cumulative temporality the SDK would still report a series after it has been removed from its gauge.
      aggregationTemporalitySelector: (type) =>
        type === InstrumentType.OBSERVABLE_GAUGE
          ? AggregationTemporality.DELTA
          : AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => MAX_SERIES,
    });
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

const reader = new ScrapeReader();
const options: MeterProviderOptions = { readers: [reader] };

/** Creates the metrics of this process. */
export const meter = new MeterProvider(options).getMeter('earshot');

/** Writes names as they are declared, without a prefix. Leaves out timestamps, `target_info` and the SDK's labels. */
const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

/** The content type of `metricsText`. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Returns all metrics of this process, in Prometheus' text format.
 * @throws AggregateError if a metric could not be read
 */
export async function metricsText(): Promise<string> {
  const { resourceMetrics, errors } = await reader.collect();
  if (errors.length > 0) throw new AggregateError(errors, 'a metric could not be read');
  return `${serializer.serialize(resourceMetrics).trimEnd()}\n`;
}

/** A gauge whose series can be removed, which the SDK's gauge does not support. */
export class SettableGauge<L extends Attributes> {
  private readonly series = new Map<string, { labels: L; value: number }>();

  /** @param name the name that Prometheus shows; ends with the unit, if there is one */
  constructor(name: string, description: string) {
    meter.createObservableGauge<L>(name, { description }).addCallback((result) => {
      for (const { labels, value } of this.series.values()) result.observe(value, labels);
    });
  }

  set(labels: L, value: number): void {
    this.series.set(keyOf(labels), { labels, value });
  }

  remove(labels: L): void {
    this.series.delete(keyOf(labels));
  }
}

function keyOf(labels: Attributes): string {
  return JSON.stringify(Object.entries(labels).sort());
}
