export * from './command-client.js';
export * from './http-status.js';
export * from './nats-strategy.js';
export * from './patterns.js';
export * from './stop-within.js';
