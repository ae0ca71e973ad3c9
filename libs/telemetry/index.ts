export * from './trace.js';
export * from './logger.js';
export * from './metrics.js';
export { METRICS_CONTENT_TYPE, metricsText } from './meter.js';
export { startTracing, stopTracing } from './tracing.js';
