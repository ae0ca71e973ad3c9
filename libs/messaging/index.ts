export { batchesOf, isReread } from './catch-up.js';
export * from './bus.js';
export * from './streams.js';
export * from './outcome.js';
export * from './durable.js';
export * from './durable-runner.js';
export * from './command-types.js';
export * from './purge.js';
export * from './jetstream-requests.js';
