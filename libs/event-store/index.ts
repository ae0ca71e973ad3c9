export * from './event-store.js';
export type { Stored } from './fetch-subject.js';
export type { Unstored } from './publish-window.js';
