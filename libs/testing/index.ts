export * from './checkout.js';
export * from './fake-timers.js';
export * from './stores.js';
export * from './until.js';
export * from './programs.js';
export * from './api-client.js';
export * from './fund-account.js';
export * from './decider.js';
