export * from './ids.js';
export * from './clock.js';
export * from './errors.js';
export * from './failpoint.js';
export * from './repeated.js';
export * from './token-bucket.js';
export * from './within.js';
export * from './wall-clock.js';
