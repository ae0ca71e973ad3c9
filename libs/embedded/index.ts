export * from './embedded-stores.js';
