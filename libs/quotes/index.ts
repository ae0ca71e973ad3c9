export * from './quote.js';
export * from './quoted-days.js';
