export * from './balance.js';
export * from './holds.js';
