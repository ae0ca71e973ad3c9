export * from './projection.js';
export * from './rebuild.js';
