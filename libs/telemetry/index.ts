export * from './trace.js';
export * from './logger.js';
export * from './metrics.js';
