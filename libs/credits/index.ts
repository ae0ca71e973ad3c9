export * from './balance.js';
export * from './paid-work.js';
export * from './reservations.js';
