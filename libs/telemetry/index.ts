export {
  arrive,
  arriveWith,
  beginSpan,
  continueTrace,
  currentTrace,
  currentTraceparent,
  endSpan,
  inSpan,
  isRecorded,
  isTraced,
  SpanKind,
  stepOf,
  type Arrival,
  type Span,
  type Trace,
} from './trace.js';
export * from './shared-work.js';
export * from './logger.js';
export * from './metrics.js';
export { METRICS_CONTENT_TYPE, metricsText } from './meter.js';
export { startTracing, stopTracing } from './tracing.js';
