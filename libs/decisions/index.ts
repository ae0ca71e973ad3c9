export { withAccountLock } from './account-turns.js';
export * from './execute.js';
