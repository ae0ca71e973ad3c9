export * from './event-store.js';
export type { Unstored } from './publish-window.js';
