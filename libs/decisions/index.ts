export * from './execute.js';
