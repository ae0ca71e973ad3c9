export * from './balance.js';
export * from './reservations.js';
