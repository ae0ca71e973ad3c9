export * from './source.js';
export * from './rate-headers.js';
export * from './registry.js';
export * from './upstream-http.js';
