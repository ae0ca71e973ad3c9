export * from './client.js';
export * from './rows.js';
